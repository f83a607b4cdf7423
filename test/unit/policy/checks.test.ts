import { describe, expect, test } from 'vitest';
import { checkContent, checkForRecipient, checkClient } from '../../../mail/policy/checks/index.ts';
import { countVisibleText } from '../../../mail/policy/checks/hidden-text.ts';
import { countLetters } from '../../../mail/policy/count-letters.ts';
import type { Finding } from '../../../mail/policy/finding.ts';
import type { Sample, SamplePart } from '../../../mail/policy/sample.ts';
import { failsAuthentication } from '../../../mail/policy/author-proof.ts';
import { nobodyRequested, sampleWith, vouchedBy } from '../../support/sample.ts';

const here = { hostname: 'box.test', now: Date.UTC(2026, 10, 21, 12) };
const familiar = { own: ['mybakery.example'], written: ['oldfriends.example'] };
const queried = { ...nobodyRequested, iprev: { result: 'pass' as const, name: 'mx.sender.example', ip: '192.0.2.7' } };
/** DNS failure of the author's own domain, which might have authenticated the mail. */
const troubled = { ...queried, dmarc: { ...queried.dmarc, unsure: true as const } };
/** DNS failure of another domain. */
const silent = {
  ...queried,
  spf: { result: 'temperror' as const, domain: 'evil.test' },
  dkim: [{ result: 'temperror' as const, domain: 'evil.test', selector: 'k' }],
};
const failing = { ...nobodyRequested, spf: { result: 'fail' as const, domain: 'x.example' } };

const field = (name: string, value: string): Sample['fields'][number] => ({
  name,
  value: ` ${value}`,
  start: 0,
  end: 0,
});
const everyday = sampleWith({}).fields;
const withFields = (...more: [string, string][]): Sample['fields'] => [
  ...everyday.filter(({ name }) => !more.some(([other]) => other === name)),
  field('to', 'me@mybakery.example'),
  ...more.map(([name, value]) => field(name, value)),
];
const from = (value: string, author: string): Partial<Sample> => ({ fields: withFields(['from', value]), author });
const link = (url: string, text = ''): Partial<Sample> => ({ fields: withFields(), links: [{ url, text }] });
const part = (name: string, some: Partial<SamplePart> = {}): Partial<Sample> => ({
  fields: withFields(),
  parts: [{ type: 'application/octet-stream', name, size: 9, head: Buffer.from('anything'), ...some }],
});
const archive = (names: string[], some: object = {}): Partial<Sample> =>
  part('a.zip', { contents: { names, locked: false, macros: false, ...some } });
const rules = (findings: readonly Finding[]): string[] => findings.map(({ rule }) => rule).toSorted();
const content = (some: Partial<Sample>): string[] => rules(checkContent(sampleWith(some), here));

test('an everyday message is left in peace', () => {
  const everydaySample = sampleWith({ fields: withFields() });
  expect([
    ...checkContent(everydaySample, here),
    ...checkClient(everydaySample, here),
    ...checkForRecipient(everydaySample, familiar),
  ]).toEqual([]);
});

const hide = (style: string, words: number): string =>
  `<p>${'shown words '.repeat(30)}</p><div style="${style}">${'words '.repeat(words)}</div>`;

test.each<[string, Partial<Sample>, string[]]>([
  ['a look-alike brand', from('PayPal <service@paypa1.com>', 'service@paypa1.com'), ['look-alike-brand']],
  ['a brand in front', link('https://paypal.com.evil.example/x'), ['look-alike-link']],
  ['a brand itself', link('https://www.paypal.com/x'), []],
  ['scripts mixed', link('https://xn--wrldnews-nbh.example/'), ['mixed-scripts']],
  ['a brand that names no address', from('PayPal <MAILER-DAEMON>', ''), ['borrowed-name']],
  ['a brand where the address stands', from('<PayPal>', ''), ['borrowed-name']],
  ['a daemon', from('Mail Delivery Subsystem <MAILER-DAEMON>', ''), []],
  [
    'a name that is an address, before a quoted one',
    from('"boss@mybakery.example" <"a b"@evil.example>', 'a b@evil.example'),
    ['name-is-address'],
  ],
  [
    'a name that is an address',
    from('"boss@mybakery.example" <x@evil.example>', 'x@evil.example'),
    ['name-is-address'],
  ],
  ['a name that is its own address', from('"x@evil.example" <x@evil.example>', 'x@evil.example'), []],
  [
    'a name that is written with encoded words',
    from('=?utf-8?Q?boss=40mybakery.example?= <x@evil.example>', 'x@evil.example'),
    ['name-is-address'],
  ],
  ...['"boss @ bakery.example"', '"boss@bakery\u3002example"', '"boss@\u2060bakery.\u2060example"']
    .concat('=?utf-8?q?=3D=3Futf-8=3Fq=3Fboss=3D40bakery.example=3F=3D?=')
    .map((name): [string, Partial<Sample>, string[]] => [
      `a name that is shown as an address: ${name}`,
      from(`${Buffer.from(name).toString('latin1')} <x@evil.example>`, 'x@evil.example'),
      ['name-is-address'],
    ]),
  ['a borrowed name', from('PayPaI Service <x@evil.example>', 'x@evil.example'), ['borrowed-name']],
  ['a name of two words', from('"Wells Fargo Alerts" <x@evil.example>', 'x@evil.example'), ['borrowed-name']],
  ['a name that is a word', from('Chase Miller <x@evil.example>', 'x@evil.example'), []],
  ['a branch', from('Amazon <x@amazon.de>', 'x@amazon.de'), []],
  ['answers to anybody', { fields: withFields(['reply-to', 'x@gmail.com']) }, ['reply-elsewhere']],
  ['answers to a colleague', { fields: withFields(['reply-to', 'team@sender.example']) }, []],
  ['answers to a list', { fields: withFields(['reply-to', 'x@gmail.com'], ['list-id', '<l>']) }, ['bulk']],
  ['a disguised link', link('https://evil.example/', 'www.bank.example/login'), ['disguised-link']],
  [
    'a disguised link in letters of their own',
    link('https://evil.example/', 'https://bücher.example'),
    ['disguised-link'],
  ],
  ['an honest link', link('https://www.bank.example/login', 'bank.example'), []],
  ['a link to a host of the domain that it shows', link('https://www.web.de/', 'web.de'), []],
  ['a link to a neighbor under a shared domain', link('https://evil.eu.org/', 'bank.eu.org'), ['disguised-link']],
  ['a file for a link', link('https://files.example/x', 'report.pdf'), []],
  ['words for a link', link('https://files.example/x', 'Read it. Now'), []],
  ['a link to the author', link('https://sender.example/x', 'www.shop.example'), []],
  ['an address for a host', link('http://192.0.2.1/x'), ['address-link']],
  ['an address in hex', link('http://0xC0000201/x'), ['address-link']],
  ['an address of six', link('http://[2001:db8::1]/x'), ['address-link']],
  ['a name in front of a host', link('https://bank.example@evil.example/'), ['login-link']],
  ['a mail address for a link', link('mailto:a@b.example'), []],
  ['a page in a link', link('data:text/html;base64,AAAA'), ['data-link']],
  ['a program in a link', link('javascript:alert(1)'), ['script-link']],
  ['a short link', link('https://bit.ly/x'), ['short-link']],
  ['nonsense for a link', link('http://%zz//@'), []],
  ['much hidden', { fields: withFields(), html: hide('display: none', 900) }, ['hidden-text']],
  ['letters of no size', { fields: withFields(), html: hide('font-size:0px', 900) }, ['hidden-text']],
  ['white on white', { fields: withFields(), html: hide('color:#FFF; background: white', 900) }, ['hidden-text']],
  ['a preview', { fields: withFields(), html: hide('display:none', 15) }, []],
  ['small print', { fields: withFields(), html: hide('font-size:0.8em', 900) }, []],
  ['a program', part('setup.exe'), ['program']],
  ['a program with blanks behind', part('setup.exe .  '), ['program']],
  ['a program called like a picture', part('photo.jpg.scr'), ['program']],
  [
    'a program under another name',
    part('photo.jpg', { head: Buffer.concat([Buffer.from('MZ\x90\0\x03'), Buffer.alloc(50)]) }),
    ['program'],
  ],
  ['a program of Linux', part('notes', { head: Buffer.from('\x7fELF\x02') }), ['program']],
  ['a program of macOS', part('notes', { head: Buffer.from('cffaedfe07000001', 'hex') }), ['program']],
  ['a shortcut', part('Invoice', { head: Buffer.from('4c0000000114020000000000c0000000', 'hex') }), ['program']],
  ['a word that begins like one', part('notes', { head: Buffer.from('MZ is a series of motorcycles') }), []],
  ['an attached message', part('Re: example.com', { type: 'message/rfc822' }), []],
  ['a script to read', part('deploy.sh', { type: 'text/x-sh', head: Buffer.from('#!/bin/sh\n') }), []],
  ['a script to run', part('deploy.sh', { head: Buffer.from('#!/bin/sh\n') }), ['program']],
  ['a program in an archive', archive(['readme.txt', 'a.exe']), ['program']],
  ['a script alone in an archive', archive(['invoice.js']), ['program']],
  ['scripts of a project', archive(['a.js', 'b.js', 'package.json', 'README.md']), []],
  ['a disguised script in a project', archive(['a.js', 'b.js', 'package.json', 'README.pdf.js']), ['program']],
  ['a document with macros', archive(['word/vbaProject.bin'], { macros: true }), ['macros']],
  ['a document for macros', part('invoice.docm'), ['macros']],
  ['a locked archive', archive(['a.txt'], { locked: true }), ['locked-archive']],
  ['an archive without an end', part('a.zip', { head: Buffer.from('PK\x03\x04') }), ['broken-archive']],
  ['an attached page', part('Voicemail.html'), ['attached-page']],
  ['a picture with a script', part('a.svg', { head: Buffer.from('<svg><script>') }), ['attached-page']],
  ['a picture', part('a.svg', { head: Buffer.from('<svg><path/>') }), []],
  ['a link alone', { ...link('https://a.example/'), text: 'https://a.example/\n' }, ['link-only']],
  [
    'a picture with a link',
    { ...link('https://a.example/'), text: '', html: '<a href="https://a.example"><img src=cid:x></a>' },
    ['picture-link'],
  ],
  ['a picture alone', { fields: withFields(), text: ' ', html: '<img src=cid:x>' }, ['picture-only']],
  ['a newsletter', { fields: withFields(['list-unsubscribe', '<https://a.example>']) }, ['bulk']],
  ['no way to leave', { fields: withFields(['precedence', 'bulk']) }, ['bulk']],
  ['no date', { fields: withFields().filter(({ name }) => name !== 'date') }, ['no-date']],
  ['a broken date', { fields: withFields(['date', 'soon']) }, ['no-date']],
  ['a date ahead', { fields: withFields(['date', 'Sat, 28 Nov 2026 10:00:00 +0000']) }, ['date-ahead']],
  ['an old date', { fields: withFields(['date', 'Thu, 1 Jan 2026 10:00:00 +0000']) }, ['date-old']],
  ['no id', { fields: withFields().filter(({ name }) => name !== 'message-id') }, ['no-message-id']],
  ['nobody to whom it is', { fields: everyday }, ['no-recipient']],
  ['text turned around', { fields: withFields(), subject: 'Invoice \u202efdp.exe' }, ['hidden-characters']],
  [
    'a forged trace',
    {
      fields: [...withFields(['received', 'from a by box.test']), field('received', 'from b by box.test with ESMTP')],
      authentication: queried,
    },
    ['forged-received'],
  ],
  ['our own trace', { fields: withFields(['received', 'from a by box.test with ESMTP']) }, []],
])('content: %s', (_what, some, expected) => expect(content(some)).toEqual(expected));

test.each<[string, Partial<Sample>, string[], boolean]>([
  ['its own domain', { author: 'boss@mybakery.example', authentication: queried }, ['own-domain'], false],
  [
    'its own domain behind a quoted name',
    { author: 'a b@mybakery.example', authentication: queried },
    ['own-domain'],
    false,
  ],
  ['its own domain where nobody was asked', { author: 'boss@mybakery.example' }, [], false],
  ['its own domain in trouble of the DNS', { author: 'boss@mybakery.example', authentication: troubled }, [], false],
  [
    'its own domain where somebody else’s name servers are silent',
    { author: 'boss@mybakery.example', authentication: silent },
    ['own-domain'],
    false,
  ],
  [
    'its own domain by a list that is trusted',
    { author: 'boss@mybakery.example', authentication: failing, sealer: 'lists.example' },
    [],
    false,
  ],
  [
    'its own domain with proof',
    { author: 'boss@mybakery.example', authentication: vouchedBy('mybakery.example') },
    [],
    false,
  ],
  ['a look-alike of it', { author: 'boss@rnybakery.example' }, ['look-alike-author'], false],
  ['one that has failed', { author: 'boss@rnybakery.example', authentication: failing }, ['look-alike-author'], true],
  [
    'one with proof of its own',
    { author: 'boss@rnybakery.example', authentication: vouchedBy('rnybakery.example') },
    ['look-alike-author'],
    false,
  ],
  [
    'a look-alike of friends that has failed',
    { author: 'x@o1dfriends.example', authentication: failing },
    ['look-alike-author'],
    false,
  ],
  ['a service for it', { author: 'x@mybakery.service.example' }, ['look-alike-author'], false],
  ['a service for friends', { author: 'x@oldfriends.service.example' }, [], false],
  ['friends', { author: 'x@oldfriends.example', authentication: failing }, [], false],
])('for who knows the domain, %s', (_what, some, expected, refused) => {
  const found = checkForRecipient(sampleWith(some), familiar);
  expect(rules(found)).toEqual(expected);
  expect(found.some(({ refuse }) => refuse === true)).toBe(refused);
});

test('a program is refused only where proof has failed', () => {
  const exe = part('a.exe');
  expect(checkContent(sampleWith({ ...exe, authentication: failing }), here)[0]?.refuse).toBe(true);
  for (const authentication of [nobodyRequested, vouchedBy('sender.example')])
    expect(checkContent(sampleWith({ ...exe, authentication }), here)[0]).not.toHaveProperty('refuse');
});

const peer = sampleWith({}).peer;
test.each([
  ['box.test', '192.0.2.7', 'pass', ['helo-is-us']],
  ['[192.0.2.8]', '192.0.2.7', 'pass', ['helo-other-address']],
  ['[192.0.2.7]', '192.0.2.7', 'pass', ['helo-address']],
  ['[IPv6:2001:DB8:0::7]', '2001:db8::7', 'pass', ['helo-address']],
  ['localhost', '192.0.2.7', 'pass', ['helo-short']],
  ['a.example', '192.0.2.7', 'fail', ['no-name']],
  ['a.example', '192.0.2.7', 'permerror', ['no-name']],
  ['a.example', '192.0.2.7', 'temperror', []],
  ['a.example', '192.0.2.7', 'none', []],
] as const)('a host that greets with %s from %s, whose name is a %s: %j', (helo, ip, result, expected) => {
  const authentication = { ...nobodyRequested, iprev: { result, name: '', ip } };
  expect(rules(checkClient(sampleWith({ peer: { ...peer, helo, ip }, authentication }), here))).toEqual(expected);
});

describe('what a finding says', () => {
  const all = [
    from('"boss@mybakery.example" <x@paypa1.com>', 'x@paypa1.com'),
    link('https://bank.example@192.0.2.1/', 'www.bank.example'),
    part('a\u202e\r\nx.exe'),
    part('a.docm'),
    { html: hide('display:none', 900) },
  ].flatMap((some) => checkContent(sampleWith(some), here));

  test('is a sentence without its full stop, on one line, and no link', () => {
    expect(all.length).toBeGreaterThan(6);
    for (const { why } of all) {
      expect(why).toMatch(/^[A-Za-z0-9][\x20-\x7e]+[^.]$/);
      expect(why).not.toMatch(/https?:/);
    }
  });

  test('and alone makes nothing junk', () => {
    for (const { score } of all) expect(Math.abs(score)).toBeLessThanOrEqual(3);
  });
});

test('letters are counted, and what has no width is not', () => {
  expect(countLetters('a1 .,;B é 会議 \u200b\u200c\u00ad\u034f\u3000')).toBe(6);
});

test('what is left open ends where browsers end it', () => {
  expect(countVisibleText('<p style="display:none">ab<p>cde<li hidden>f<li>g')).toEqual({ hidden: 3, shown: 4 });
});

describe('failed proof', () => {
  const spf = { result: 'pass' as const, domain: 'list.example' };
  const dkim = [{ result: 'fail' as const, domain: 'sender.example', selector: 's' }];
  test.each([
    ['SPF', failing, true],
    ['a signature', { ...queried, dkim }, true],
    ['a signature that a list broke', { ...queried, spf, dkim }, false],
    ['nothing', queried, false],
    ['the DNS', { ...troubled, dkim }, false],
    ['DMARC, where somebody else is silent', { ...silent, dmarc: { ...queried.dmarc, result: 'fail' as const } }, true],
    ['nobody asked', nobodyRequested, false],
  ])('%s', (_what, authentication, failed) => expect(failsAuthentication(sampleWith({ authentication }))).toBe(failed));
});

test('text that nobody reads is neither hidden nor shown', () => {
  expect(countVisibleText('<style>p{}</style>ab<p style="display:none">cd<b>ef</b></p>gh<br>i')).toEqual({
    hidden: 4,
    shown: 5,
  });
});
