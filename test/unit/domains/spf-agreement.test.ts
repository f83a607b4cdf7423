import { describe, expect, test } from 'vitest';
import type { Settings } from '../../../config/settings.ts';
import { createResolver } from '../../../mail/dns/resolver.ts';
import { quiet } from '../../../mail/log.ts';
import { reportOn } from '../../../src/deliverability/report.ts';
import { planChanges } from '../../../src/dns-providers/plan.ts';
import { reviewSpf } from '../../../src/dns-providers/spf-review.ts';
import { snapshotDns } from '../../../src/domains/look.ts';
import { outboundOf, requiredRecords } from '../../../src/domains/records.ts';
import { sendingServer } from '../../../src/domains/sending-server.ts';
import { testCertificate } from '../../support/certificate.ts';
import { type DnsAnswer, dnsServer } from '../../support/dns-server.ts';

const HOST = 'mail.box.test';
const SHOP = { id: 1, name: 'shop.test', keys: [] };
const { cert: pem } = await testCertificate(HOST);

type Zone = Record<string, DnsAnswer>;

/** Reads the SPF status in each part of the server, by the answers of one name server. */
async function views(text: string, dns: Zone, given: Partial<Settings>) {
  const zone = { [`A ${HOST}`]: ['198.51.100.25'], 'MX shop.test': [`10 ${HOST}`], 'TXT shop.test': [text], ...dns };
  await using server = await dnsServer(zone);
  const lookNow = createResolver({ servers: [server.address], cache: false, timeoutMs: 500 });
  const settings = {
    live: true,
    hostname: HOST,
    ports: {},
    dnsLists: { addresses: [], hosts: [] },
    ...given,
  } as unknown as Settings;
  const { checks, seen } = (await snapshotDns({ settings, lookNow }, SHOP)).snapshot;
  const fetchSts = (): Promise<never> => Promise.reject(new Error('no policy'));
  const certificate = (): { pem: string; selfSigned: boolean } => ({ pem, selfSigned: false });
  const doctor = await reportOn({ settings, lookNow, fetchSts, certificate, clock: () => 0, log: quiet }, SHOP);
  return {
    verification: checks.sendingIdentity.status,
    record: seen['TXT shop.test']?.status,
    doctor: doctor.spf.status,
    plan: await planOf(zone, settings, lookNow),
    why: [checks.sendingIdentity.detail, seen['TXT shop.test']?.why],
  };
}

/** `keep`: the record there authorizes this server; else the change at a DNS provider. */
async function planOf(zone: Zone, settings: Settings, resolver: ReturnType<typeof createResolver>): Promise<string> {
  const found = Object.entries(zone).flatMap(([key, values]) => {
    const [type = '', name = ''] = key.split(' ');
    return (typeof values === 'string' ? [] : values).map((value) => ({ type, name, value, ttl: 60, id: '', raw: '' }));
  });
  const outbound = outboundOf(settings.outboundAddresses);
  const wanted = requiredRecords(SHOP, { hostname: HOST, byName: false, outbound }).filter(
    ({ purpose }) => purpose === 'spf',
  );
  const input = { wanted, written: [], found, authority: undefined, domain: SHOP.name, hostname: HOST, outbound };
  const review = { resolver, domain: SHOP.name, server: sendingServer(settings), found };
  const [step] = await reviewSpf(planChanges(input), review, true);
  return step?.action ?? 'none';
}

const GOOD = { verification: 'pass', record: 'ok', doctor: 'pass', plan: 'keep' };
const BAD = { verification: 'fail', record: 'mismatch', doctor: 'fail', plan: 'merge' };
const ELSEWHERE = { outboundAddresses: { ipv4: '198.51.100.77', ipv6: undefined } };
const RELAYED = { smarthost: { use: 'always' } as never };
const INCLUDED: Zone = { 'TXT _spf.host.test': ['v=spf1 ip4:198.51.100.64/26 -all'] };
const DEAD = 'v=spf1 a:x.test a:y.test a:z.test mx -all';

describe('verification, the list of records, the doctor and the plan of a provider agree on SPF', () => {
  test.each<[string, string, Zone, Partial<Settings>, Partial<typeof GOOD>]>([
    ['the MX, from whose address mail leaves', 'v=spf1 mx ~all', {}, {}, GOOD],
    ['the MX, while mail leaves from another address', 'v=spf1 mx ~all', {}, ELSEWHERE, BAD],
    ['the other address', 'v=spf1 ip4:198.51.100.77 -all', {}, ELSEWHERE, GOOD],
    ['an include that has the other address', 'v=spf1 include:_spf.host.test -all', INCLUDED, ELSEWHERE, GOOD],
    ['an include that does not have the address of the host', 'v=spf1 include:_spf.host.test -all', INCLUDED, {}, BAD],
    [
      'a record that rejects the address first',
      'v=spf1 -ip4:198.51.100.77 mx ip4:198.51.100.77 -all',
      {},
      ELSEWHERE,
      { ...BAD, plan: 'conflict' },
    ],
    ['names without records before the MX', DEAD, {}, {}, { ...BAD, plan: 'conflict' }],
    [
      'an MX of others beside the wanted text',
      'v=spf1 mx ~all',
      { 'MX shop.test': ['10 mx.other.test'], 'A mx.other.test': ['203.0.113.1'] },
      {},
      BAD,
    ],
    ['a host name without an address', 'v=spf1 mx ~all', { [`A ${HOST}`]: 'NOERROR' }, {}, { ...BAD, plan: 'keep' }],
    [
      'an include that does not answer',
      'v=spf1 include:_spf.host.test -all',
      { 'TXT _spf.host.test': 'SERVFAIL' },
      {},
      { verification: 'pending', record: 'unknown', doctor: 'unknown', plan: 'conflict' },
    ],
    ['the smarthost', 'v=spf1 include:_spf.host.test -all', INCLUDED, RELAYED, { ...GOOD, doctor: 'unknown' }],
    ['the smarthost, in a record that is broken', 'v=spf1 include:gone.test -all', {}, RELAYED, BAD],
  ])('%s', async (_, text, dns, settings, expected) => {
    const { why, ...seen } = await views(text, dns, settings);
    expect(seen).toEqual(expected);
    if (seen.record !== 'ok') expect(why[1]).toBe(why[0]);
  });

  test('each address of a host counts, in whatever order the name server lists them', async () => {
    for (const addresses of [
      ['198.51.100.25', '198.51.100.26'],
      ['198.51.100.26', '198.51.100.25'],
    ]) {
      const { why, ...seen } = await views('v=spf1 ip4:198.51.100.25 ~all', { [`A ${HOST}`]: addresses }, {});
      expect(seen).toEqual(BAD);
      expect(why[0]).toContain('~all');
    }
  });
});
