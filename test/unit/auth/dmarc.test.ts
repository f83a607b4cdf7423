import { describe, expect, test } from 'vitest';
import { authenticateMail } from '../../../mail/auth/authenticate.ts';
import { DmarcPolicyCache } from '../../../mail/auth/dmarc-policy-cache.ts';
import { walkDnsTree } from '../../../mail/auth/dmarc-walk.ts';
import { readDmarc } from '../../../mail/auth/dmarc-record.ts';
import { type AuthenticationSetup, authenticateMessage } from '../../support/authenticate-message.ts';
import { signMessage, SIGNING_KEYS, publicPart } from '../../support/dkim-maker.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const from = (author: string): string => `From: ${author}\r\nSubject: x\r\n\r\nx\r\n`;
const SPF = { 'TXT list.example': ['v=spf1 +all'] };

async function dmarc(author: string, zone: FakeZone, more: AuthenticationSetup = {}) {
  const { dmarc: found } = await authenticateMessage(from(author), { zone: { ...SPF, ...zone }, ...more });
  return found;
}

describe('the tree walk of RFC 9989', () => {
  async function walked(
    domain: string,
    zone: FakeZone,
  ): Promise<[organization: string, queried: number, records: string[]]> {
    const resolver = fakeResolver(zone);
    const { organization, records } = await walkDnsTree(domain, resolver);
    return [organization, resolver.queried.length, records.map((one) => one.domain)];
  }
  const P = ['v=DMARC1; p=reject'];

  test('goes up to the top, and the highest record is that of the organization', async () => {
    const zone = { 'TXT _dmarc.mail.box.example': P, 'TXT _dmarc.box.example': P };
    expect(await walked('a.mail.box.example', zone)).toEqual(['box.example', 4, ['mail.box.example', 'box.example']]);
  });

  test('asks eight times at most: the RFC’s own example', async () => {
    const resolver = fakeResolver({});
    await walkDnsTree('a.b.c.d.e.f.g.h.i.j.mail.example.com', resolver);
    expect(resolver.queried).toEqual(
      [
        'a.b.c.d.e.f.g.h.i.j.mail.example.com',
        'g.h.i.j.mail.example.com',
        'h.i.j.mail.example.com',
        'i.j.mail.example.com',
        'j.mail.example.com',
        'mail.example.com',
        'example.com',
        'com',
      ].map((name) => `TXT _dmarc.${name}`),
    );
    expect((await walked('a.b.c.d.e.f.g.h', {}))[1]).toBe(8);
    expect((await walked('a.b', {}))[1]).toBe(2);
  });

  test.each<[string, string, FakeZone, string]>([
    [
      'psd=n ends it',
      'a.b.c.example',
      { 'TXT _dmarc.b.c.example': ['v=DMARC1; p=none; psd=n'], 'TXT _dmarc.example': P },
      'b.c.example',
    ],
    ['psd=y leaves one label', 'a.b.bank', { 'TXT _dmarc.bank': ['v=DMARC1; p=none; psd=y'] }, 'b.bank'],
    [
      'psd=y of the domain itself',
      'gov.example',
      { 'TXT _dmarc.gov.example': ['v=DMARC1; p=none; psd=y'] },
      'gov.example',
    ],
    [
      'psd=y above a suffix',
      'a.b.co.example',
      { 'TXT _dmarc.co.example': ['v=DMARC1; p=none; psd=y'], 'TXT _dmarc.example': P },
      'b.co.example',
    ],
    ['two records are none', 'a.b.example', { 'TXT _dmarc.b.example': [...P, 'v=DMARC1; p=none'] }, 'a.b.example'],
    ['other records do not count', 'a.b.example', { 'TXT _dmarc.b.example': [...P, 'hello'] }, 'b.example'],
    ['nothing at all', 'a.b.example', {}, 'a.b.example'],
    ['above trouble nothing is believed', 'a.b.c', { 'TXT _dmarc.b.c': 'trouble', 'TXT _dmarc.c': P }, 'a.b.c'],
  ])('%s', async (_what, domain, zone, organization) => {
    expect((await walked(domain, zone))[0]).toBe(organization);
  });
});

describe('a record', () => {
  test.each([
    ['v=DMARC1; p=reject', 'reject', 'reject', 'reject'],
    ['v = DMARC1 ; p = Reject ; sp=none', 'reject', 'none', 'none'],
    ['v=DMARC1;p=none;sp=quarantine;np=reject;', 'none', 'quarantine', 'reject'],
    ['v=DMARC1; p=reject; t=y', 'quarantine', 'quarantine', 'quarantine'],
    ['v=DMARC1; p=quarantine; np=reject; t=y', 'none', 'none', 'quarantine'],
    ['v=DMARC1; p=reject; p=none', 'reject', 'reject', 'reject'],
    ['v=DMARC1; garbage; p=reject', 'reject', 'reject', 'reject'],
    ['v=DMARC1; p=block; rua=mailto:a@x.example', 'none', 'none', 'none'],
    ['v=DMARC1; rua=mailto:a@x.example', 'none', 'none', 'none'],
    ['v=DMARC1; p=reject; sp=maybe; rua=mailto:a@x.example', 'none', 'none', 'none'],
  ])('%s', (text, policy, below, missing) => {
    expect(readDmarc(text)).toMatchObject({ policy, below, missing });
  });

  test.each(['v=DMARC1', 'v=DMARC1; p=block', 'v=DMARC1; rua=nobody', `v=DMARC1; p=reject; x=${'y'.repeat(5000)}`])(
    '%.40s is none',
    (text) => {
      expect(readDmarc(text)).toBeUndefined();
    },
  );
});

describe('what an author’s domain asks for', () => {
  const zone: FakeZone = {
    'TXT _dmarc.box.example': ['v=DMARC1; p=none; sp=quarantine; np=reject'],
    'A there.box.example': ['192.0.2.9'],
    'CNAME gone.box.example': ['nowhere.example'],
  };

  test.each([
    ['me@box.example', 'none'],
    ['me@there.box.example', 'quarantine'],
    ['me@gone.box.example', 'quarantine'],
    ['me@missing.box.example', 'reject'],
  ])('%s: %s', async (author, policy) => {
    expect(await dmarc(author, zone)).toMatchObject({ result: 'fail', policy, organization: 'box.example' });
  });

  test('a public suffix asks for those that do not exist', async () => {
    const suffix: FakeZone = { 'TXT _dmarc.bank': ['v=DMARC1; p=none; np=reject; psd=y'] };
    expect(await dmarc('me@made-up.bank', suffix)).toMatchObject({ result: 'fail', policy: 'reject' });
  });

  test('whether a name exists, when that cannot be found out, is not known', async () => {
    const found = await dmarc('me@a.box.example', { ...zone, 'A a.box.example': 'trouble' });
    expect(found).toMatchObject({ result: 'temperror', policy: 'none' });
  });

  test('an address literal asks for nothing', async () => {
    expect(await dmarc('me@[192.0.2.1]', zone)).toMatchObject({ result: 'none' });
  });
});

describe('alignment', () => {
  const zone = (record: string): FakeZone => ({
    'TXT _dmarc.box.example': [`v=DMARC1; p=reject; ${record}`],
    'TXT box.example': ['v=spf1 +all'],
    'TXT mail.box.example': ['v=spf1 +all'],
    'TXT mybox.example': ['v=spf1 +all'],
    'TXT own.box.example': ['v=spf1 +all'],
    'TXT _dmarc.own.box.example': ['v=DMARC1; p=none; psd=n'],
  });

  test.each([
    ['the same', 'box.example', 'box.example', '', 'pass'],
    ['below', 'box.example', 'mail.box.example', '', 'pass'],
    ['above', 'mail.box.example', 'box.example', '', 'pass'],
    ['beside', 'news.box.example', 'mail.box.example', '', 'pass'],
    ['below, and strict', 'box.example', 'mail.box.example', 'aspf=s', 'fail'],
    ['the same, and strict', 'box.example', 'box.example', 'aspf=s', 'pass'],
    ['only ending alike', 'box.example', 'mybox.example', '', 'fail'],
    ['below, of another organization', 'box.example', 'own.box.example', '', 'fail'],
    ['above, of another organization', 'own.box.example', 'box.example', '', 'fail'],
  ])('%s', async (_what, author, sender, record, result) => {
    expect((await dmarc(`me@${author}`, zone(record), { sender: `b@${sender}` })).result).toBe(result);
  });

  test.each([
    [
      'its own record',
      'box.example',
      'box.example',
      'rua=mailto:r@box.example',
      { domain: 'box.example', spf: true, dkim: false },
    ],
    [
      'the record above',
      'news.box.example',
      'list.example',
      'rua=mailto:r@x.example',
      { domain: 'box.example', spf: false, dkim: false },
    ],
    ['no address for reports', 'box.example', 'box.example', 'rua=', undefined],
    ['a mistake for an address', 'box.example', 'box.example', 'rua=reports', undefined],
  ])('is noted for the aggregate report: %s', async (_what, author, sender, record, reporting) => {
    const found = await dmarc(`me@${author}`, zone(record), { sender: `b@${sender}` });
    expect(found.reporting).toEqual(reporting);
  });

  test('of a domain that asks for nothing is reported too', async () => {
    const found = await dmarc(
      'me@plain.example',
      { 'TXT plain.example': ['v=spf1 +all'] },
      { sender: 'me@plain.example' },
    );
    expect(found).toMatchObject({ result: 'none', aligned: true });
    expect(await dmarc('me@plain.example', {})).toMatchObject({ result: 'none', aligned: false });
  });

  test('a greeting vouches where there is no sender', async () => {
    const found = await authenticateMessage(from('me@box.example'), {
      zone: zone(''),
      sender: '',
      helo: 'mail.box.example',
    });
    expect(found).toMatchObject({ spf: { result: 'pass', identity: 'helo' }, dmarc: { result: 'pass' } });
  });
});

describe('when the DNS does not answer', () => {
  const zone: FakeZone = {
    'TXT _dmarc.box.example': ['v=DMARC1; p=reject'],
    'TXT box.example': ['v=spf1 ip4:192.0.2.1 -all'],
  };
  const down: FakeZone = { ...zone, 'TXT _dmarc.box.example': 'trouble' };

  test('nothing is known of a stranger', async () => {
    expect(await dmarc('me@box.example', down)).toMatchObject({ result: 'temperror', policy: 'none' });
  });

  test('a domain that asked for protection before is remembered', async () => {
    const policies = new DmarcPolicyCache();
    expect((await dmarc('me@box.example', zone, { policies })).result).toBe('fail');
    expect(await dmarc('me@box.example', down, { policies })).toMatchObject({ result: 'temperror', policy: 'reject' });
    const sent = { policies, sender: 'me@box.example', ip: '192.0.2.1' };
    expect(await dmarc('me@box.example', down, sent)).toMatchObject({ result: 'pass', policy: 'reject' });
    await dmarc('me@box.example', { ...zone, 'TXT _dmarc.box.example': ['v=DMARC1; p=none'] }, { policies });
    expect(await dmarc('me@box.example', down, { policies })).toMatchObject({ result: 'temperror', policy: 'none' });
  });

  test('its own policy is known, and a signature that could not be checked might have passed', async () => {
    const found = await dmarc(
      'me@box.example',
      { ...zone, 'TXT box.example': 'trouble' },
      { sender: 'me@box.example' },
    );
    expect(found).toMatchObject({ result: 'temperror', policy: 'reject' });
  });

  const unknown = 'DKIM-Signature: v=1; a=rsa-sha256; d=%; s=k; h=from; bh=AA==; b=AA==\r\n';
  test.each<[what: string, domain: string, record: string, more: FakeZone, result: string]>([
    ['of nobody near', 'evil.test', 'p=reject', {}, 'fail'],
    ['of a name that ends alike', 'mybox.example', 'p=reject', {}, 'fail'],
    ['of the domain itself', 'box.example', 'p=reject', {}, 'temperror'],
    ['below it', 'mail.box.example', 'p=reject', {}, 'temperror'],
    ['below it, which does not count', 'mail.box.example', 'p=reject; adkim=s', {}, 'fail'],
    [
      'below it, of another organization',
      'own.box.example',
      'p=reject',
      { 'TXT _dmarc.own.box.example': ['v=DMARC1; p=none; psd=n'] },
      'fail',
    ],
    [
      'below it, of who knows which organization',
      'own.box.example',
      'p=reject',
      { 'TXT _dmarc.own.box.example': 'trouble' },
      'temperror',
    ],
  ])('a signature %s that could not be checked (%s; %s)', async (_what, domain, record, more, result) => {
    const silent: FakeZone = { [`TXT k._domainkey.${domain}`]: 'trouble' };
    const records: FakeZone = { ...zone, 'TXT _dmarc.box.example': [`v=DMARC1; ${record}`], ...silent, ...more };
    const found = await authenticateMessage(`${unknown.replace('%', domain)}${from('me@box.example')}`, {
      zone: records,
    });
    expect(found.dkim).toMatchObject([{ result: 'temperror', domain }]);
    expect(found.dmarc.result).toBe(result);
    expect(found.dmarc.unsure).toBe(result === 'fail' ? undefined : true);
  });

  test('an SPF policy of somebody else that could not be read changes nothing, its own does', async () => {
    const silent: FakeZone = { ...zone, 'TXT list.example': 'trouble', 'TXT mail.box.example': 'trouble' };
    expect((await dmarc('me@box.example', silent)).result).toBe('fail');
    expect((await dmarc('me@box.example', silent, { sender: 'x@mail.box.example' })).result).toBe('temperror');
  });

  test('who asks for nothing may be proved all the same, which is not known then', async () => {
    const silent: FakeZone = { 'TXT k._domainkey.plain.example': 'trouble', 'TXT k._domainkey.evil.test': 'trouble' };
    const signed = (by: string) =>
      authenticateMessage(`${unknown.replace('%', by)}${from('me@plain.example')}`, { zone: silent });
    expect((await signed('plain.example')).dmarc).toMatchObject({ result: 'none', aligned: false, unsure: true });
    expect((await signed('evil.test')).dmarc).not.toHaveProperty('unsure');
  });

  test('what passes needs nothing more', async () => {
    const troubled: FakeZone = { ...zone, 'TXT _dmarc.example': 'trouble' };
    const sent = { sender: 'me@box.example', ip: '192.0.2.1' };
    expect((await dmarc('me@box.example', troubled, sent)).result).toBe('pass');
    expect((await dmarc('me@box.example', troubled)).result).toBe('temperror');
  });

  test('known policies are few, and for a week', () => {
    let now = 0;
    const policies = new DmarcPolicyCache(() => now);
    const reject = { policy: 'reject', organization: 'x.example', strict: { dkim: false, spf: false } } as const;
    for (let i = 0; i < 6000; i += 1) policies.record(`d${i}.example`, reject);
    expect(policies.size).toBe(5000);
    expect([policies.get('d0.example'), policies.get('d5999.example')?.policy]).toEqual([undefined, 'reject']);
    now = 8 * 24 * 3600 * 1000;
    expect(policies.get('d5999.example')).toBeUndefined();
  });
});

describe('when one name server is silent', () => {
  const zone: FakeZone = {
    'TXT _dmarc.box.example': ['v=DMARC1; p=reject'],
    'TXT mail.box.example': ['v=spf1 +all'],
    'TXT rsa._domainkey.mail.box.example': [`v=DKIM1; k=rsa; p=${publicPart(SIGNING_KEYS.rsa)}`],
  };
  const signed = signMessage({ message: from('me@box.example'), tags: { d: 'mail.box.example' } });

  test.each([
    ['SPF', from('me@box.example'), 'b@mail.box.example'],
    ['a signature', signed, 'bounce@list.example'],
  ])('whatever else vouches for the author has time to do so: %s', async (_what, message, sender) => {
    const resolver = { ...fakeResolver(zone), ptr: () => new Promise<never>(() => undefined) };
    const chunks = async function* () {
      yield Buffer.from(message, 'latin1');
    };
    const mail = { chunks, ip: '192.0.2.1', helo: 'mx.peer.example', sender };
    const found = await authenticateMail(mail, { resolver, timeoutMs: 50 });
    expect(found).toMatchObject({ iprev: { result: 'temperror' }, dmarc: { result: 'pass' } });
  });
});

describe('in local mode nobody is asked', () => {
  test('and authors are counted all the same', async () => {
    expect(await authenticateMessage(from('me@box.example'), { local: true })).toEqual({
      spf: { result: 'none', domain: '' },
      dkim: [],
      dmarc: { result: 'none', policy: 'none', domain: 'box.example', organization: 'box.example', aligned: false },
      arc: 'none',
      iprev: { result: 'none', name: '', ip: '198.51.100.1' },
    });
    const two = await authenticateMessage(`From: me@box.example\r\n${from('me@box.example')}`, { local: true });
    expect(two.dmarc).toMatchObject({ result: 'permerror', why: 'more than one From field' });
  });
});

test('a report may be of nobody, other mail may not', async () => {
  const report = from('Mail Delivery Subsystem <MAILER-DAEMON>');
  expect((await authenticateMessage(report, { sender: '' })).dmarc.result).toBe('none');
  expect((await authenticateMessage(report)).dmarc.result).toBe('permerror');
  expect((await authenticateMessage(from('"ceo@bank.example" <>'), { sender: '' })).dmarc.result).toBe('permerror');
});
