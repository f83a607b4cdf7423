import { describe, expect, test } from 'vitest';
import type { Settings } from '../../../config/settings.ts';
import { quiet } from '../../../mail/log.ts';
import type { FetchStsPolicy } from '../../../mail/relay/tls-policy/sts-fetch.ts';
import { CHECKS, fixesOf, type DeliverabilityReport, reportOn, scoreOf } from '../../../src/deliverability/report.ts';
import type { PublishedDomain } from '../../../src/domains/records.ts';
import { testCertificate } from '../../support/certificate.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const HOST = 'mail.box.example';
const IP = '198.41.0.4';
const LIST = 'bl.example.net';
const KEY = 'v=DKIM1; k=rsa; p=MIIB';
const SHOP: PublishedDomain = {
  id: 1,
  name: 'shop.example',
  keys: [{ selector: 'ms1', algorithm: 'rsa-sha256', text: KEY, state: 'signs', retiredAt: null }],
};
const { cert: pem } = await testCertificate(HOST);

/** A domain of which everything is right. */
const RIGHT: FakeZone = {
  [`A ${HOST}`]: [IP],
  [`PTR ${IP}`]: [HOST],
  'MX shop.example': [`10 ${HOST}`],
  'TXT shop.example': ['v=spf1 mx ~all'],
  'TXT ms1._domainkey.shop.example': [KEY],
  'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'],
  'TXT _mta-sts.shop.example': ['v=STSv1; id=1'],
  [`A 2.0.0.127.${LIST}`]: ['127.0.0.2'],
};

interface How {
  zone?: FakeZone;
  settings?: Partial<Settings>;
  mx?: string[];
  selfSigned?: boolean;
  now?: string;
}

async function report({ zone = {}, settings = {}, mx = [HOST], selfSigned = false, now = '2026-01-01' }: How = {}) {
  const resolver = fakeResolver({ ...RIGHT, ...zone });
  const policy = { mode: 'enforce', mx, maxAge: 1 } as const;
  const fetchSts: FetchStsPolicy = () => Promise.resolve({ policy, strings: [] });
  const lists = { addresses: [{ zone: LIST, score: 3, refuse: false }], hosts: [] };
  const all = { live: true, hostname: HOST, ports: {}, dnsLists: lists, ...settings } as unknown as Settings;
  const certificate = (): { pem: string; selfSigned: boolean } => ({ pem, selfSigned });
  const context = { settings: all, lookNow: resolver, fetchSts, certificate, clock: () => Date.parse(now), log: quiet };
  return { report: await reportOn(context, SHOP), queried: resolver.queried };
}

const stands = (made: DeliverabilityReport): object =>
  Object.fromEntries(CHECKS.map((name) => [name, made[name].status]));
const FINE = { spf: 'pass', dkim: 'pass', dmarc: 'pass', ptr: 'pass', tls: 'pass', mtaSts: 'pass' };

test('a domain of which everything is right has all points, and nothing to do', async () => {
  const { report: made } = await report();
  expect(stands(made)).toEqual(FINE);
  expect(made.blocklists).toMatchObject([{ list: LIST, about: IP, status: 'pass' }]);
  expect([scoreOf(made), fixesOf(made)]).toEqual([100, []]);
});

const WRONG: [string, How, string, RegExp][] = [
  ['spf', { zone: { 'TXT shop.example': ['v=spf1 -all'] } }, 'before it authorizes this box', /before its "all": mx/],
  ['dkim', { zone: { 'TXT ms1._domainkey.shop.example': ['v=DKIM1; p=AAAA'] } }, 'no selector', /list_dns_records/],
  ['dmarc', { zone: { 'TXT _dmarc.shop.example': ['v=spf1'] } }, 'no DMARC record', /Publish the TXT record _dmarc/],
  [
    'dmarc',
    { zone: { 'TXT _dmarc.shop.example': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] } },
    '_dmarc.shop.example has 2 DMARC records, which count as none',
    /Delete all DMARC records of shop.example but one/,
  ],
  [
    'ptr',
    { zone: { [`PTR ${IP}`]: ['host4.isp.example'], 'A host4.isp.example': [IP] } },
    'has the reverse name host4',
    /\(PTR\)/,
  ],
  ['ptr', { zone: { [`PTR ${IP}`]: ['host4.isp.example'] } }, 'does not resolve back', /reverse name/],
  ['ptr', { zone: { [`A ${HOST}`]: ['198.41.0.5'] } }, '198.41.0.5 has no reverse name', /198\.41\.0\.5/],
  ['tls', { selfSigned: true }, 'self-signed', /MAILSTEAD_TLS_CERT/],
  ['tls', { now: '2051-01-01' }, 'not valid now', /Renew/],
  ['mtaSts', { mx: ['mx.other.example'] }, `does not name ${HOST}`, /mx: mail\.box\.example/],
];

test.each(WRONG)(
  '%s that is wrong (%j) costs its point, and its finding says how to mend it',
  async (name, how, detail, fix) => {
    const { report: made } = await report(how);
    expect(stands(made)).toEqual({ ...FINE, [name]: 'fail' });
    expect(made[name as keyof typeof FINE].detail).toContain(detail);
    expect([scoreOf(made), fixesOf(made).length]).toEqual([86, 1]);
    expect(fixesOf(made)[0]).toMatch(fix);
  },
);

describe('SPF', () => {
  test('has to name the addresses that the settings name, wherever the public name leads', async () => {
    const settings = { outboundAddresses: { ipv4: '198.41.0.9', ipv6: undefined } };
    const zone = { 'PTR 198.41.0.9': [HOST], [`A ${HOST}`]: [IP, '198.41.0.9'] };
    expect((await report({ settings, zone })).report.spf.status).toBe('pass');
    const { report: made } = await report({ settings, zone: { 'PTR 198.41.0.9': [HOST] } });
    expect(made.spf.status).toBe('fail');
    expect(made.spf.fix).toContain('ip4:198.41.0.9');
  });
});

describe('DMARC', () => {
  test('of p=none is fine, and comes with advice', async () => {
    const { report: made } = await report({ zone: { 'TXT _dmarc.shop.example': ['v=DMARC1; p=none'] } });
    expect([made.dmarc.status, scoreOf(made)]).toEqual(['pass', 100]);
    expect(fixesOf(made)).toEqual([expect.stringMatching(/^Advice: .*p=quarantine/)]);
  });

  test('counts where the domain above has it, as that says for those below', async () => {
    const zone = { 'TXT _dmarc.shop.example': [], 'TXT _dmarc.example': ['v=DMARC1; p=none; sp=quarantine'] };
    const { report: made } = await report({ zone });
    expect(made.dmarc).toEqual({ status: 'pass', detail: '_dmarc.example has the policy quarantine' });
  });
});

describe('block lists', () => {
  test('that have us cost a point, and are named', async () => {
    const { report: made } = await report({ zone: { [`A 4.0.41.198.${LIST}`]: ['127.0.0.2'] } });
    expect(made.blocklists).toMatchObject([{ status: 'fail', detail: 'listed' }]);
    expect([scoreOf(made), fixesOf(made)]).toEqual([86, [expect.stringContaining(`the list ${LIST}`)]]);
  });

  test('that list the whole world, or refuse to answer, say nothing of us', async () => {
    const world = { [`A 4.0.41.198.${LIST}`]: ['127.0.0.2'], [`A 1.0.0.127.${LIST}`]: ['127.0.0.2'] };
    const refusing = { [`A 4.0.41.198.${LIST}`]: ['127.255.255.254'] };
    for (const zone of [world, refusing]) {
      const { report: made } = await report({ zone });
      expect([made.blocklists[0]?.status, scoreOf(made), fixesOf(made)]).toEqual(['unknown', 100, []]);
    }
  });

  test.each(['127.255.255.252', '127.255.255.254', '127.255.255.255'])(
    'that refuse the query with %s are neither clean nor an entry',
    async (answer) => {
      const test = { [`A 1.0.0.127.${LIST}`]: [answer], [`A 2.0.0.127.${LIST}`]: [answer] };
      const about = { [`A 4.0.41.198.${LIST}`]: [answer] };
      for (const zone of [
        test,
        about,
        { ...test, ...about },
        { ...about, [`A 4.0.41.198.${LIST}`]: ['127.0.0.2', answer] },
      ]) {
        const { report: made } = await report({ zone });
        expect(made.blocklists).toEqual([
          {
            list: LIST,
            about: IP,
            status: 'unknown',
            detail: 'the list refuses to answer this resolver',
            refused: true,
          },
        ]);
      }
    },
  );

  test('that are known have the page of the removal, and are only queried', async () => {
    for (const [zone, page] of [
      ['psbl.surriel.com', 'https://psbl.org/'],
      ['zen.spamhaus.org', 'https://check.spamhaus.org/'],
      ['bl.spamcop.net', 'https://www.spamcop.net/bl.shtml'],
    ] as const) {
      const lists = { addresses: [{ zone, score: 3, refuse: false }], hosts: [] };
      const listed = { [`A 2.0.0.127.${zone}`]: ['127.0.0.2'], [`A 4.0.41.198.${zone}`]: ['127.0.0.4'] };
      const { report: made, queried } = await report({ settings: { dnsLists: lists }, zone: listed });
      expect(made.blocklists).toMatchObject([{ list: zone, about: IP, status: 'fail' }]);
      expect(fixesOf(made)).toEqual([
        `Look up the reason at the list ${zone} (${page}), fix it, and request the removal of ${IP} there.`,
      ]);
      const queries = queried.filter((one) => one.includes(zone)).toSorted();
      expect(queries).toEqual([`A 1.0.0.127.${zone}`, `A 2.0.0.127.${zone}`, `A 4.0.41.198.${zone}`]);
    }
  });

  test('of a customer are named without the key in their zone', async () => {
    const zone = 'abcdefghijklmnopqrstuvwx12.zen.dq.spamhaus.net';
    const lists = { addresses: [{ zone, score: 3, refuse: false }], hosts: [] };
    const listed = { [`A 2.0.0.127.${zone}`]: ['127.0.0.2'], [`A 4.0.41.198.${zone}`]: ['127.0.0.4'] };
    const { report: made } = await report({ settings: { dnsLists: lists }, zone: listed });
    expect(made.blocklists).toMatchObject([{ list: 'zen.dq.spamhaus.net', status: 'fail' }]);
    expect(JSON.stringify(made)).not.toContain('abcdefghijklmnopqrstuvwx12');
  });

  test('are asked about no address that is not public, and lists of the good about none', async () => {
    const inside = await report({ zone: { [`A ${HOST}`]: ['10.0.0.4'], 'PTR 10.0.0.4': [HOST] } });
    expect(inside.report.blocklists).toMatchObject([{ status: 'unknown' }]);
    expect(inside.queried.filter((one) => one.includes(LIST))).toEqual([]);
    const good = { addresses: [{ zone: LIST, score: -3, refuse: false }], hosts: [] };
    expect((await report({ settings: { dnsLists: good } })).report.blocklists).toEqual([]);
  });

  test('of domains are asked for ours', async () => {
    const hosts = [{ zone: LIST, score: 3, refuse: false }];
    const zone = { [`A shop.example.${LIST}`]: ['127.0.0.2'], [`A test.${LIST}`]: ['127.0.0.2'] };
    const { report: made } = await report({ settings: { dnsLists: { addresses: [], hosts } }, zone });
    expect(made.blocklists).toMatchObject([{ about: 'shop.example', status: 'fail' }]);
  });
});

describe('what is not known', () => {
  test('is unknown, costs nothing and needs nothing: the DNS is down', async () => {
    const zone = Object.fromEntries(Object.keys(RIGHT).map((key) => [key, 'trouble' as const]));
    const { report: made } = await report({ zone });
    expect(stands(made)).toMatchObject({ spf: 'unknown', dkim: 'unknown', dmarc: 'unknown', ptr: 'unknown' });
    expect([made.tls.status, made.mtaSts.status, scoreOf(made), fixesOf(made)]).toEqual(['pass', 'unknown', 100, []]);
  });

  test('local mode asks nobody, and has no score', async () => {
    const { report: made, queried } = await report({ settings: { live: false } });
    expect(new Set(Object.values(stands(made)))).toEqual(new Set(['unknown']));
    expect([made.spf.detail, scoreOf(made), queried]).toEqual([expect.stringContaining('local mode'), null, []]);
  });

  test('where all mail leaves by a smarthost its addresses are not known, and ours do not count', async () => {
    const settings = { smarthost: { use: 'always' } as never };
    const { report: made } = await report({ settings, zone: { [`A 4.0.41.198.${LIST}`]: ['127.0.0.2'] } });
    expect([made.spf.status, made.ptr.status, made.blocklists]).toEqual(['unknown', 'unknown', []]);
  });

  test('an MTA-STS policy that is not announced is no fault', async () => {
    const { report: made } = await report({ zone: { 'TXT _mta-sts.shop.example': ['something else'] } });
    expect([made.mtaSts.status, scoreOf(made), fixesOf(made)]).toEqual(['none', 100, []]);
  });
});
