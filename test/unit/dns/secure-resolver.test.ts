import { expect, test } from 'vitest';
import { createSecureResolver } from '../../../mail/dns/secure-resolver.ts';
import type { SecureResolver } from '../../../mail/dns/lookup.ts';
import { type DnsAnswer, type DnsServer, dnsServer } from '../../support/dns-server.ts';

const DIGEST = 'ab'.repeat(32);
const ZONE: Record<string, DnsAnswer> = {
  'MX remote.test': ['10 MX.remote.test'],
  'A mx.remote.test': ['127.0.0.1'],
  'AAAA mx.remote.test': ['::1'],
  'A alias.test': ['CNAME far.test', '127.0.0.2'],
  'CNAME alias.test': ['CNAME far.test'],
  'TLSA _25._tcp.mx.remote.test': [`3 1 1 ${DIGEST}`, '2 0 0 00'],
  'MX bogus.test': 'SERVFAIL',
  'MX refused.test': 'REFUSED',
  'MX silent.test': 'silence',
};

/** The server shares this event loop: only who asks for what is never answered has little patience. */
async function world(timeoutMs = 5_000): Promise<{ server: DnsServer; resolver: SecureResolver }> {
  const server = await dnsServer({ ...ZONE });
  server.secure = (name) => name.endsWith('remote.test') || name === 'nothing.test';
  const [ip = '', port = ''] = server.address.split(':');
  return { server, resolver: createSecureResolver({ servers: [{ ip, port: Number(port) }], timeoutMs }) };
}

test('answers carry whether they are proved', async () => {
  const { server, resolver } = await world();
  await using _server = server;
  expect(await resolver.mx('remote.test')).toEqual({
    kind: 'found',
    secure: true,
    records: [{ preference: 10, exchange: 'mx.remote.test' }],
  });
  expect(await resolver.a('mx.remote.test')).toEqual({ kind: 'found', secure: true, records: ['127.0.0.1'] });
  expect(await resolver.aaaa('MX.remote.test.')).toMatchObject({ kind: 'found', secure: true });
  expect(await resolver.a('alias.test')).toEqual({
    kind: 'found',
    secure: false,
    alias: 'far.test',
    records: ['127.0.0.2'],
  });
  expect(await resolver.cname('alias.test')).toMatchObject({ records: ['far.test'] });
  expect(await resolver.tlsa('_25._tcp.mx.remote.test')).toMatchObject({
    secure: true,
    records: [
      { usage: 3, selector: 1, matchingType: 1, data: Buffer.from(DIGEST, 'hex') },
      { usage: 2, selector: 0, matchingType: 0, data: Buffer.from([0]) },
    ],
  });
});

test('that there is nothing can be proved too', async () => {
  const { server, resolver } = await world();
  await using _server = server;
  expect(await resolver.mx('nothing.test')).toEqual({ kind: 'none', nx: true, secure: true });
  expect(await resolver.mx('else.test')).toEqual({ kind: 'none', nx: true, secure: false });
  expect(await resolver.tlsa('mx.remote.test')).toEqual({ kind: 'none', nx: false, secure: true });
});

test.each(['bogus.test', 'refused.test', 'silent.test', 'a..b', `${'x'.repeat(64)}.test`])(
  'trouble with %s is nothing else',
  async (name) => {
    const { server, resolver } = await world(name === 'silent.test' ? 100 : undefined);
    await using _server = server;
    expect(await resolver.mx(name)).toMatchObject({ kind: 'trouble' });
  },
);

test('is remembered, and asked with what DNSSEC needs', async () => {
  const { server, resolver } = await world();
  await using _server = server;
  await Promise.all([resolver.mx('remote.test'), resolver.mx('remote.test')]);
  await resolver.mx('remote.test');
  expect(server.queried).toEqual(['MX remote.test']);
});

test('the next server is asked when the first does not know', async () => {
  const { server } = await world();
  await using _server = server;
  await using lame = await dnsServer({ 'MX remote.test': 'SERVFAIL' });
  const positions = [lame, server].map(({ address }) => ({ ip: '127.0.0.1', port: Number(address.split(':')[1]) }));
  const resolver = createSecureResolver({ servers: positions, timeoutMs: 5_000 });
  expect(await resolver.mx('remote.test')).toMatchObject({ kind: 'found', secure: true });
});
