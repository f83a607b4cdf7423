import { describe, expect, test } from 'vitest';
import { authenticateMessage } from '../../support/authenticate-message.ts';
import { signMessage, type SignatureInput, SIGNING_KEYS, publicPart } from '../../support/dkim-maker.ts';
import type { FakeZone } from '../../support/fake-resolver.ts';

const MESSAGE =
  'From: me@box.test\r\nTo: you@x.example\r\nSubject:  a  \t b\r\n\tc \r\n\r\none \t two \r\n\r\n three\r\n\r\n\r\n';
const KEYS = {
  'TXT rsa._domainkey.box.test': [`v=DKIM1; k=rsa; p=${publicPart(SIGNING_KEYS.rsa)}`],
  'TXT ed._domainkey.box.test': [`v=DKIM1; k=ed25519; p=${publicPart(SIGNING_KEYS.ed25519)}`],
} satisfies FakeZone;

async function verdict(made: string, zone: FakeZone = KEYS): Promise<string> {
  const { dkim } = await authenticateMessage(made, { zone });
  return dkim.map(({ result, why }) => (why === undefined ? result : `${result}: ${why}`)).join(', ');
}

const made = (more: Omit<SignatureInput, 'message'> = {}): string => signMessage({ message: MESSAGE, ...more });

describe('the examples of the RFCs', () => {
  const joe = [
    'From: Joe SixPack <joe@football.example.com>',
    'To: Suzie Q <suzie@shopping.example.net>',
    'Subject: Is dinner ready?',
    'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)',
    'Message-ID: <20030712040037.46341.5F8J@football.example.com>',
    '',
    'Hi.',
    '',
  ];
  const rest = ['', 'Joe.', ''];
  const rsa1024 =
    'MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYtIxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhitdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB';

  /** As erratum 4926 has it: the RFC's own indentation is not what was signed. */
  test('RFC 6376 A.2', async () => {
    const signed = [
      'DKIM-Signature: v=1; a=rsa-sha256; s=brisbane; d=example.com;',
      '      c=simple/simple; q=dns/txt; i=joe@football.example.com;',
      '      h=Received : From : To : Subject : Date : Message-ID;',
      '      bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
      '      b=AuUoFEfDxTDkHlLXSZEpZj79LICEps6eda7W3deTVFOk4yAUoqOB',
      '      4nujc7YopdG5dWLSdNg6xNAZpOPr+kHxt1IrE+NahM6L/LbvaHut',
      '      KVdkLLkpVaVVQPzeRDI009SO2Il5Lu7rDNH6mZckBdrIx0orEtZV',
      '      4bmp/YzhwvcubU4=;',
      'Received: from client1.football.example.com  [192.0.2.1]',
      '      by submitserver.example.com with SUBMISSION;',
      '      Fri, 11 Jul 2003 21:01:54 -0700 (PDT)',
    ];
    const message = [...signed, ...joe, 'We lost the game. Are you hungry yet?', ...rest].join('\r\n');
    const zone = { 'TXT brisbane._domainkey.example.com': [`v=DKIM1; p=${rsa1024}`] };
    expect(await verdict(message, zone)).toBe('pass');
    expect(await verdict(message.replace('Joe.', 'Jim.'), zone)).toMatch(/^fail: the body/);
    expect(await verdict(message.replace('Is dinner', 'Was dinner'), zone)).toMatch(/^fail: the header/);
  });

  test('RFC 8463 A.3', async () => {
    const signed = [
      'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;',
      ' d=football.example.com; i=@football.example.com;',
      ' q=dns/txt; s=brisbane; t=1528637909; h=from : to :',
      ' subject : date : message-id : from : subject : date;',
      ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
      ' b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus',
      ' Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==',
      'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;',
      ' d=football.example.com; i=@football.example.com;',
      ' q=dns/txt; s=test; t=1528637909; h=from : to : subject :',
      ' date : message-id : from : subject : date;',
      ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
      ' b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3',
      ' DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz',
      ' dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=',
    ];
    const rsa =
      'MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB';
    const message = [...signed, ...joe, 'We lost the game.  Are you hungry yet?', ...rest].join('\r\n');
    const zone = {
      'TXT brisbane._domainkey.football.example.com': [
        'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      ],
      'TXT test._domainkey.football.example.com': [`v=DKIM1; k=rsa; p=${rsa}`],
    };
    expect(await verdict(message, zone)).toBe('pass, pass');
    expect(await verdict(message.replace('Joe.', 'Jim.'), zone)).not.toContain('pass');
  });
});

describe('what passes', () => {
  test.each(['simple/simple', 'simple/relaxed', 'relaxed/simple', 'relaxed/relaxed', 'relaxed', 'simple', undefined])(
    'canonicalization %s, of several bodies in chunks of every size',
    async (c) => {
      for (const body of [
        '',
        '\r\n',
        '\r\n\r\n',
        'a',
        'a\r\n\r\nb \t\r\n\r\n',
        ' \r\n \t\r\n',
        'a\rb\r',
        '\r\r\n\n\r\n\r',
        'x'.repeat(50),
      ]) {
        const message = signMessage({ message: `From: me@box.test\r\n\r\n${body}`, tags: { c } });
        for (const chunk of [1, 2, 3, 7, 1000]) {
          const { dkim } = await authenticateMessage(message, { zone: KEYS, chunk });
          expect([body, chunk, dkim[0]?.result]).toEqual([body, chunk, 'pass']);
        }
      }
    },
  );

  test.each<[string, Omit<SignatureInput, 'message'>]>([
    ['Ed25519', { key: SIGNING_KEYS.ed25519 }],
    ['both kinds of letters in d=, s= and a=', { tags: { d: 'Box.TEST', s: 'RSA', a: 'RSA-SHA256' } }],
    ['i= of a sub-domain', { tags: { i: 'x@mail.box.test' } }],
    ['unknown tags', { tags: { zz: 'what', r: 'y' } }],
    ['a date', { tags: { t: '1700000000', x: '9999999999' } }],
    ['h= with blanks and names that are not there', { tags: { h: ' From : to:subject\r\n : x-none:from ' } }],
    ['l= of all that is there', { tags: { l: '19' } }],
    ['q= with another way too', { tags: { q: 'http/x:dns/txt' } }],
  ])('%s', async (_what, how) => {
    expect(await verdict(made(how))).toBe('pass');
  });

  test('a key in the form that RFC 6376 asks for and in the one that it shows', async () => {
    const zone = { 'TXT rsa._domainkey.box.test': [`p=${publicPart(SIGNING_KEYS.rsa, 'pkcs1')}`] };
    expect(await verdict(made(), zone)).toBe('pass');
    const folded =
      publicPart(SIGNING_KEYS.rsa)
        .match(/.{1,40}/g)
        ?.join(' ') ?? '';
    const record = `v=DKIM1; h=sha1 : sha256; s=email; t=y; n=a note; p=${folded};`;
    expect(await verdict(made(), { 'TXT rsa._domainkey.box.test': [record] })).toBe('pass');
  });

  test('RSA of 1024 bits, which is the least', async () => {
    const zone = { 'TXT rsa._domainkey.box.test': [`p=${publicPart(SIGNING_KEYS.rsa1024)}`] };
    expect(await verdict(made({ key: SIGNING_KEYS.rsa1024 }), zone)).toBe('pass');
  });
});

describe('what does not pass', () => {
  test.each<[string, Omit<SignatureInput, 'message'>, RegExp]>([
    ['SHA-1', { digest: 'sha1' }, /^policy: SHA-1/],
    ['an expired one', { tags: { x: '1700000000' } }, /^fail: the signature has expired/],
    ['one of the future', { tags: { t: '9999999999' } }, /^fail: t= is in the future/],
    ['x= before t=', { tags: { t: '1700000000', x: '1600000000' } }, /^neutral/],
    ['dates that are none', { tags: { t: 'now' } }, /^neutral/],
    ['h= without From', { tags: { h: 'to:subject' } }, /^permerror: .*From/],
    ['no h=', { tags: { h: undefined } }, /^permerror: .*From/],
    ['l= shorter than the body', { tags: { l: '5' } }, /^policy: l= does not cover/],
    ['l= longer than the body', { tags: { l: '500' } }, /^fail: the body/],
    ['l=0', { tags: { l: '0' } }, /^policy/],
    ['l= of a body that was changed', { tags: { l: '19', bh: 'AAAA' } }, /^fail: the body/],
    ['another version', { tags: { v: '2' } }, /^neutral/],
    ['no version', { tags: { v: undefined } }, /^neutral/],
    ['an algorithm that nobody knows', { tags: { a: 'rsa-md5' } }, /^neutral/],
    ['a canonicalization that nobody knows', { tags: { c: 'nofws/simple' } }, /^neutral|^fail/],
    ['a key that is elsewhere', { tags: { q: 'http/x' } }, /^neutral/],
    ['i= of another domain', { tags: { i: 'me@bank.example' } }, /^permerror/],
    ['i= of a domain that only ends alike', { tags: { i: 'me@mybox.test' } }, /^permerror/],
    ['a NUL in d=', { tags: { d: 'box.test\0.evil.example' } }, /^neutral/],
    ['a comment in d=', { tags: { d: 'box.test(.evil.example' } }, /^neutral/],
    ['a quote in d=', { tags: { d: "box.test'.evil.example" } }, /^neutral/],
    ['two dots in d=', { tags: { d: 'box..test' } }, /^neutral/],
    ['a dot behind d=', { tags: { d: 'box.test.' } }, /^neutral/],
    ['a NUL in s=', { tags: { s: 'rsa\0' } }, /^neutral/],
    ['a way out of the tree in s=', { tags: { s: 'rsa._domainkey.box.test..' } }, /^neutral/],
    ['no key', { tags: { s: 'none' } }, /^permerror: no key record was found/],
    ['a tag twice', { tags: { s: 'rsa; s=rsa' } }, /^neutral/],
    ['b= that is no base64', { tags: { bh: '!!!' } }, /^neutral/],
  ])('%s', async (_what, how, expected) => {
    expect(await verdict(made(how))).toMatch(expected);
  });

  test.each<[string, string, RegExp]>([
    ['a revoked key', 'v=DKIM1; p=', /^permerror: the key was revoked/],
    ['a record without a key', 'v=DKIM1; k=rsa', /^permerror: the public key is invalid/],
    ['a version that is not the first', `k=rsa; v=DKIM1; p=${publicPart(SIGNING_KEYS.rsa)}`, /^permerror/],
    ['another version', `v=DKIM2; p=${publicPart(SIGNING_KEYS.rsa)}`, /^permerror/],
    [
      'a key for another hash',
      `h=sha1; p=${publicPart(SIGNING_KEYS.rsa)}`,
      /^permerror: the key does not allow SHA-256/,
    ],
    ['a key for something else', `s=tlsrpt; p=${publicPart(SIGNING_KEYS.rsa)}`, /^permerror: the key is not for email/],
    [
      'a key of another kind',
      `k=ed25519; p=${publicPart(SIGNING_KEYS.ed25519)}`,
      /^permerror: the key type does not match/,
    ],
    ['an Ed25519 key as RSA', `k=rsa; p=${publicPart(SIGNING_KEYS.ed25519)}`, /^permerror: the public key is invalid/],
    ['another key', `p=${publicPart(SIGNING_KEYS.rsa1024)}`, /^fail: the header/],
    ['no octets of a key', 'p=AAAA', /^permerror: the public key is invalid/],
    ['a text that is no record', 'hello world', /^permerror/],
  ])('%s', async (_what, record, expected) => {
    expect(await verdict(made(), { 'TXT rsa._domainkey.box.test': [record] })).toMatch(expected);
  });

  test('RSA of less than 1024 bits', async () => {
    const zone = { 'TXT rsa._domainkey.box.test': [`p=${publicPart(SIGNING_KEYS.rsa768)}`] };
    expect(await verdict(made({ key: SIGNING_KEYS.rsa768 }), zone)).toBe('policy: an RSA key of 768 bits is too short');
  });

  test('i= of a sub-domain with a key that is for the domain alone', async () => {
    const zone = { 'TXT rsa._domainkey.box.test': [`t=y:s; p=${publicPart(SIGNING_KEYS.rsa)}`] };
    expect(await verdict(made({ tags: { i: '@mail.box.test' } }), zone)).toBe(
      'permerror: the key does not allow subdomains in i= (t=s)',
    );
    expect(await verdict(made({ tags: { i: '@box.test' } }), zone)).toBe('pass');
  });

  test('a key that cannot be looked up is not known', async () => {
    expect(await verdict(made(), { 'TXT rsa._domainkey.box.test': 'trouble' })).toMatch(/^temperror/);
  });
});

/** Row C5: what was signed with room for more does not hold when more is there. */
test.each([
  ['a second From', (m: string) => m.replace('From:', 'From: evil@x.example\r\nFrom:')],
  ['From changed', (m: string) => m.replace('me@box', 'you@box')],
  ['a second Subject', (m: string) => m.replace('To:', 'Subject: evil\r\nTo:')],
  ['Subject changed', (m: string) => m.replace('a  \t b', 'c')],
  ['more body', (m: string) => `${m}evil`],
  ['less body', (m: string) => m.replace(' three', '')],
])('modified: %s', async (_what, modify) => {
  const signed = made({ tags: { h: 'from:from:to:to:subject:subject' } });
  expect(await verdict(signed)).toBe('pass');
  expect(await verdict(modify(signed))).toMatch(/^fail/);
});
