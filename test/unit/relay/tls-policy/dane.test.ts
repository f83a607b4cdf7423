import { expect, test } from 'vitest';
import { createSecureResolver } from '../../../../mail/dns/secure-resolver.ts';
import { findDaneDestination } from '../../../../mail/relay/tls-policy/dane.ts';
import { type DnsAnswer, dnsServer } from '../../../support/dns-server.ts';

const RECORD = `3 1 1 ${'ab'.repeat(32)}`;
const ZONE: Record<string, DnsAnswer> = {
  'MX d.test': ['10 mx.d.test'],
  'A mx.d.test': ['192.0.2.1'],
  'TLSA _25._tcp.mx.d.test': [RECORD],
};
const ALIASED: Record<string, DnsAnswer> = {
  ...ZONE,
  'A mx.d.test': ['CNAME mx.far.test', '192.0.2.1'],
  'CNAME mx.d.test': ['CNAME mx.far.test'],
};

/** In this zone, with these names not proved, what DANE says of mx.d.test: where records are, or a kind. */
async function stateOf(zone: Record<string, DnsAnswer>, insecure: readonly string[] = [], ip = '192.0.2.1') {
  await using server = await dnsServer(zone);
  server.secure = (name) => !insecure.includes(name);
  const place = { ip: '127.0.0.1', port: Number(server.address.split(':')[1]) };
  // The server shares this event loop: little patience for one that is silent alone.
  const timeoutMs = Object.values(zone).includes('silence') ? 50 : 5_000;
  const dane = await findDaneDestination(createSecureResolver({ servers: [place], timeoutMs }), 'd.test');
  const state = await dane.forHost({ name: 'mx.d.test', ip, port: 25 });
  return state.kind === 'records' ? state.base : state.kind;
}

test.each<[string, Record<string, DnsAnswer>, string[], string]>([
  ['all is proved', ZONE, [], 'mx.d.test'],
  ['the MX is not', ZONE, ['d.test'], 'none'],
  ['the address is not', ZONE, ['mx.d.test'], 'none'],
  ['the records are not', ZONE, ['_25._tcp.mx.d.test'], 'none'],
  ['there are no records', { ...ZONE, 'TLSA _25._tcp.mx.d.test': 'NXDOMAIN' }, [], 'none'],
  ['the MX fails', { ...ZONE, 'MX d.test': 'SERVFAIL' }, [], 'trouble'],
  ['the address fails', { ...ZONE, 'A mx.d.test': 'SERVFAIL' }, [], 'trouble'],
  ['the records fail', { ...ZONE, 'TLSA _25._tcp.mx.d.test': 'SERVFAIL' }, [], 'trouble'],
  ['the server of the records is silent', { ...ZONE, 'TLSA _25._tcp.mx.d.test': 'silence' }, [], 'trouble'],
  ['another host was meant', { ...ZONE, 'MX d.test': ['10 other.test'] }, [], 'none'],
  ['an alias, records only where it stands', ALIASED, [], 'mx.d.test'],
  ['an alias, records where it leads', { ...ALIASED, 'TLSA _25._tcp.mx.far.test': [RECORD] }, [], 'mx.far.test'],
  [
    'an alias, and the records where it leads fail',
    { ...ALIASED, 'TLSA _25._tcp.mx.far.test': 'SERVFAIL' },
    [],
    'trouble',
  ],
])('%s: %s', async (_name, zone, insecure, expected) => {
  expect(await stateOf(zone, insecure)).toBe(expected);
});

test('an alias that is proved counts although what it leads to is not', async () => {
  await using server = await dnsServer({ ...ALIASED });
  // DNSSEC secures only the second of the two queries for the name, the one for the CNAME itself.
  server.secure = (name) => name !== 'mx.d.test' || server.queried.at(-1) === 'CNAME mx.d.test';
  const place = { ip: '127.0.0.1', port: Number(server.address.split(':')[1]) };
  const dane = await findDaneDestination(createSecureResolver({ servers: [place] }), 'd.test');
  const state = await dane.forHost({ name: 'mx.d.test', ip: '192.0.2.1', port: 25 });
  expect(state).toMatchObject({ kind: 'records', base: 'mx.d.test' });
});

test('without MX records the domain is the host', async () => {
  await using server = await dnsServer({ 'A d.test': ['192.0.2.1'], 'TLSA _25._tcp.d.test': [RECORD] });
  server.secure = () => true;
  const place = { ip: '127.0.0.1', port: Number(server.address.split(':')[1]) };
  const dane = await findDaneDestination(createSecureResolver({ servers: [place] }), 'd.test');
  expect(await dane.forHost({ name: 'd.test', ip: '192.0.2.1', port: 25 })).toMatchObject({ base: 'd.test' });
});

test('the family that is connected to is the one that has to be proved', async () => {
  const zone = { ...ZONE, 'AAAA mx.d.test': ['2001:db8::1'] };
  expect(await stateOf(zone, [], '2001:db8::1')).toBe('mx.d.test');
  expect(await stateOf({ ...zone, 'AAAA mx.d.test': 'SERVFAIL' }, [], '2001:db8::1')).toBe('trouble');
});
