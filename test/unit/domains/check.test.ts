import { describe, expect, test } from 'vitest';
import { type RecordChecks, examineDomain, recordKey, domainVerdict, within } from '../../../src/domains/check.ts';
import type { PublishedKey } from '../../../src/domains/queries.ts';
import { paccDigestText } from '../../../src/client-setup/pacc.ts';
import { requiredRecords } from '../../../src/domains/records.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const HOST = 'mail.box.example';
const SERVER = { hostname: HOST, byName: false, baseUrl: `https://${HOST}` };
const DIGEST = 'TXT _ua-auto-config.d.example';
const key = (selector: string, state: PublishedKey['state'] = 'signs'): PublishedKey => ({
  selector,
  algorithm: selector === 'ms2' || selector === 'ms4' ? 'ed25519-sha256' : 'rsa-sha256',
  text: `v=DKIM1; k=rsa; p=KEY${selector}+/==`,
  state,
  retiredAt: null,
});
const domain = (keys = [key('ms1'), key('ms2')]) => ({ id: 7, name: 'd.example', keys });
const GOOD: FakeZone = {
  'MX d.example': [`10 ${HOST}`],
  'TXT d.example': ['v=spf1 mx ~all', 'other=text'],
  'TXT _dmarc.d.example': ['v=DMARC1; p=none'],
  'TXT ms1._domainkey.d.example': ['v=DKIM1; k=rsa; p=KEYms1+/=='],
  'TXT ms2._domainkey.d.example': ['v=DKIM1; k=rsa; p=KEYms2+/=='],
  [`A ${HOST}`]: ['192.0.2.10'],
  'TXT _smtp._tls.d.example': ['v=TLSRPTv1; rua=mailto:mailstead-reports@d.example'],
  'CNAME mta-sts.d.example': [HOST],
  'CNAME autoconfig.d.example': [HOST],
  // As good as the CNAME.
  'A autodiscover.d.example': ['192.0.2.10'],
  'CNAME ua-auto-config.d.example': [HOST],
  [DIGEST]: [paccDigestText('d.example', SERVER)],
  'SRV _imaps._tcp.d.example': [`0 1 993 ${HOST}`],
  'SRV _submissions._tcp.d.example': [`0 1 465 ${HOST}`],
  'SRV _jmap._tcp.d.example': [`0 1 443 ${HOST}`],
};
const look = (zone: FakeZone, of = domain(), byName = false) =>
  examineDomain(fakeResolver(zone), of, { ...SERVER, byName });
const statuses = (checks: RecordChecks) =>
  Object.fromEntries(Object.entries(checks).map(([name, one]) => [name, one.status]));

test('what was published as it was shown passes, and each question is asked once', async () => {
  const dns = fakeResolver(GOOD);
  const { checks, seen, selectors } = await examineDomain(dns, domain(), SERVER);
  expect(new Set(Object.values(statuses(checks)))).toEqual(new Set(['pass']));
  expect(Object.values(seen).map((one) => one.status)).toEqual(Array<string>(14).fill('ok'));
  expect(selectors).toEqual(['ms1', 'ms2']);
  expect(domainVerdict(checks)).toBe('pass');
  expect(new Set(dns.queried).size).toBe(dns.queried.length);
});

describe('one thing that is wrong', () => {
  test.each<[string, FakeZone, Partial<Record<keyof RecordChecks, string>>, 'pass' | 'fail' | 'trouble']>([
    ['no MX', { 'MX d.example': [] }, { inboundMx: 'fail' }, 'fail'],
    ['an MX of others', { 'MX d.example': ['10 mx.other.example'] }, { inboundMx: 'fail' }, 'fail'],
    ['one MX among others', { 'MX d.example': ['5 mx.other.example', `10 ${HOST}`] }, {}, 'pass'],
    ['the null MX', { 'MX d.example': ['0 .'] }, { inboundMx: 'fail' }, 'fail'],
    ['a DNS that does not answer', { 'MX d.example': 'trouble' }, { inboundMx: 'pending' }, 'trouble'],
    [
      'two SPF records',
      { 'TXT d.example': ['v=spf1 mx', 'v=spf1 a'] },
      { sendingIdentity: 'fail', spf: 'fail' },
      'fail',
    ],
    ['no DMARC', { 'TXT _dmarc.d.example': [] }, { dmarc: 'fail' }, 'pass'],
    ['a strict DMARC', { 'TXT _dmarc.d.example': ['v=DMARC1;p=reject'] }, {}, 'pass'],
    ['one key', { 'TXT ms1._domainkey.d.example': [] }, {}, 'pass'],
    [
      'the key of somebody else',
      { 'TXT ms1._domainkey.d.example': ['v=DKIM1; p=OTHER'], 'TXT ms2._domainkey.d.example': [] },
      { dkim: 'fail' },
      'fail',
    ],
    [
      'a key that was taken back',
      { 'TXT ms1._domainkey.d.example': ['v=DKIM1; p='], 'TXT ms2._domainkey.d.example': ['v=DKIM1;p'] },
      { dkim: 'fail' },
      'fail',
    ],
    [
      'keys nobody can look up',
      { 'TXT ms1._domainkey.d.example': 'trouble', 'TXT ms2._domainkey.d.example': [] },
      { dkim: 'pending' },
      'trouble',
    ],
    [
      'wrong and trouble',
      { 'MX d.example': [], 'TXT d.example': 'trouble' },
      { inboundMx: 'fail', sendingIdentity: 'pending', spf: 'pending' },
      'fail',
    ],
  ])('%s', async (_, zone, expected, verdict) => {
    const { checks } = await look({ ...GOOD, 'TXT d.example': ['v=spf1 ip4:192.0.2.10'], ...zone });
    expect(statuses(checks)).toEqual({
      sendingIdentity: 'pass',
      dkim: 'pass',
      inboundMx: 'pass',
      spf: 'pass',
      dmarc: 'pass',
      ...expected,
    });
    expect(domainVerdict(checks)).toBe(verdict);
  });
});

test.each([
  'p=KEYms1+/==',
  'k=rsa;p=KEYms1+/==;',
  'v=DKIM1; k=rsa; p = KEY ms1\t+/= =  ; n=a note',
  'v=DKIM1;t=s;;p=KEYms1+/==',
])('the key counts, not how it was written: %j', async (text) => {
  const { checks } = await look({
    ...GOOD,
    'TXT ms1._domainkey.d.example': [text],
    'TXT ms2._domainkey.d.example': [],
  });
  expect(checks.dkim.status).toBe('pass');
});

test.each(['xp=KEYms1+/==', 'v=DKIM1; p=KEYms1+/==x', 'KEYms1+/==', 'v=DKIM1; pp=KEYms1+/=='])(
  'what only looks like the key does not: %j',
  async (text) => {
    const { checks } = await look({
      ...GOOD,
      'TXT ms1._domainkey.d.example': [text],
      'TXT ms2._domainkey.d.example': [],
    });
    expect(checks.dkim.status).toBe('fail');
  },
);

test('records that were made to be slow to read take time by their length', async () => {
  const evil = (size: number): string[] => {
    const blanks = ' '.repeat(size);
    return [
      `p=${blanks}!`,
      `p${blanks}=${blanks}!`,
      `;${blanks}`.repeat(2),
      ';p=  '.repeat(size / 5),
      `v=DMARC1${blanks}!`,
    ];
  };
  const names = [
    'TXT ms1._domainkey.d.example',
    'TXT ms2._domainkey.d.example',
    'TXT d.example',
    'TXT _dmarc.d.example',
  ];
  const read = (size: number): Promise<unknown> =>
    look({ ...GOOD, ...Object.fromEntries(names.map((name) => [name, evil(size)])) });
  expect(await growth(read, 60_000)).toBeLessThan(PROPORTIONAL);
});

test('only a key that signs now, or will, proves anything; one that was replaced is shown and no more', async () => {
  const keys = [key('ms1', 'retired'), key('ms3', 'signs')];
  const old = await look(GOOD, domain(keys));
  expect(old.checks.dkim).toMatchObject({ status: 'fail' });
  expect(old.seen['TXT ms1._domainkey.d.example']).toMatchObject({ status: 'ok' });
  const both = await look({ ...GOOD, 'TXT ms3._domainkey.d.example': ['p=KEYms3+/=='] }, domain(keys));
  expect(both.checks.dkim).toMatchObject({ status: 'pass', detail: 'found our key at ms3' });
});

test('a CNAME that is right and leads to no key is not enough', async () => {
  const zone: FakeZone = { ...GOOD, 'TXT ms1._domainkey.d.example': [], 'TXT ms2._domainkey.d.example': [] };
  for (const selector of ['ms1', 'ms2'])
    zone[`CNAME ${selector}._domainkey.d.example`] = [`${selector}.dom_7.dkim.${HOST}`];
  const { checks, seen } = await look(zone, domain(), true);
  expect(checks.dkim.status).toBe('fail');
  expect(seen['CNAME ms1._domainkey.d.example']).toMatchObject({ status: 'ok' });
  expect(seen['CNAME ms3._domainkey.d.example']).toMatchObject({ status: 'missing' });
  zone['CNAME ms1._domainkey.d.example'] = [`ms1.dom_8.dkim.${HOST}`];
  expect((await look(zone, domain(), true)).seen['CNAME ms1._domainkey.d.example']?.status).toBe('mismatch');
});

test('what stands in the DNS of others is shown on one line, cut, and at most five of it', async () => {
  const wild = [
    'v=spf1 \r\nX-Evil: 1\u0000\u2028\u009b31m',
    `v=spf1 ${'x'.repeat(5_000)}`,
    ...Array<string>(20).fill('v=spf1 a'),
  ];
  const { checks, seen } = await look({ ...GOOD, 'TXT d.example': wild, 'MX d.example': ['10 a\nb\ud800.example'] });
  const all = JSON.stringify([checks, seen]);
  expect(all).not.toMatch(/\\[rn]|\\u0000|\\u009b|\\ud800|[\u2028\u009b]/);
  expect(checks.spf.observed).toHaveLength(5);
  expect(Math.max(...(checks.spf.observed ?? []).map((one) => one.length))).toBeLessThanOrEqual(503);
  expect(seen['TXT d.example']?.status).toBe('mismatch');
});

test.each<[string, string[] | 'trouble', string]>([
  ['none', [], 'missing'],
  ['a wildcard text of others', ['v=spf1 -all'], 'missing'],
  ['written without blanks', (GOOD[DIGEST] as string[]).map((text) => text.replaceAll(' ', '')), 'ok'],
  ['the old one beside it, as during a change', ['v=UAAC1; a=sha256; d=OLD=', ...(GOOD[DIGEST] as string[])], 'ok'],
  ['a DNS that does not answer', 'trouble', 'unknown'],
  ['that of an older document', ['v=UAAC1; a=sha256; d=OLD='], 'mismatch'],
])('the digest of the settings document: %s', async (_, texts, status) => {
  const { seen, checks } = await look({ ...GOOD, [DIGEST]: texts });
  expect(seen[DIGEST]).toMatchObject({ status });
  expect(seen[DIGEST]?.why ?? '').toMatch(
    status === 'mismatch' ? /older document .*: replace it by the value shown/ : /^$/,
  );
  expect(domainVerdict(checks)).toBe('pass');
});

test('every record that is wanted is also looked for', async () => {
  for (const byName of [true, false]) {
    const { seen } = await look({}, domain(), byName);
    expect(Object.keys(seen).toSorted()).toEqual(
      requiredRecords(domain(), { ...SERVER, byName })
        .map(recordKey)
        .toSorted(),
    );
    expect(Object.values(seen).every((one) => one.status === 'missing')).toBe(true);
  }
});

test('a DNS that answers too late is trouble', async () => {
  const never = new Proxy({}, { get: () => () => new Promise(() => {}) });
  const { checks } = await examineDomain(within(never as never, 20), domain(), SERVER);
  expect(domainVerdict(checks)).toBe('trouble');
  expect(checks.inboundMx).toMatchObject({ status: 'pending', detail: 'DNS timeout' });
});
