import { expect, test } from 'vitest';
import { createResolver } from '../../../mail/dns/resolver.ts';
import { dnsServer, reverseName } from '../../support/dns-server.ts';

const MINUTE = 60_000;
/** For answers that come: the server shares this event loop, and a moment's standstill is no trouble of the DNS. */
const PATIENT = { timeoutMs: 5_000, tries: 1 };

test('records come as values', async () => {
  await using server = await dnsServer({
    'MX remote.test': ['10 MX1.Remote.test', '20 mx2.remote.test'],
    'MX null.test': ['0 .'],
    'A mx1.remote.test': ['192.0.2.1', '192.0.2.2'],
    'AAAA mx1.remote.test': ['2001:db8::1'],
    'TXT remote.test': [`v=spf1 ${'ip4:192.0.2.1 '.repeat(30)}-all`],
    'A alias.test': ['CNAME mx1.remote.test', '192.0.2.1'],
    [`PTR ${reverseName('192.0.2.1')}`]: ['MX1.remote.test'],
  });
  const dns = createResolver({ servers: [server.address] });
  expect(await dns.mx('remote.test')).toEqual({
    kind: 'found',
    records: expect.arrayContaining([
      { preference: 10, exchange: 'mx1.remote.test' },
      { preference: 20, exchange: 'mx2.remote.test' },
    ]),
  });
  expect(await dns.mx('null.test')).toEqual({ kind: 'found', records: [{ preference: 0, exchange: '' }] });
  expect(await dns.a('mx1.remote.test')).toMatchObject({
    kind: 'found',
    records: expect.arrayContaining(['192.0.2.1', '192.0.2.2']),
  });
  expect(await dns.aaaa('mx1.remote.test')).toEqual({ kind: 'found', records: ['2001:db8::1'] });
  expect(await dns.txt('remote.test')).toEqual({
    kind: 'found',
    records: [`v=spf1 ${'ip4:192.0.2.1 '.repeat(30)}-all`],
  });
  expect(await dns.ptr('192.0.2.1')).toEqual({ kind: 'found', records: ['mx1.remote.test'] });
});

test.each(['a+b', 'a=b', 'a:b', 'a%b', 'a!b', "a'b", 'a\\b', 'a@b', '{a}'])(
  'a name with %j, as an SPF macro makes it, is queried as it is',
  async (label) => {
    const name = `${label}.spf.test`;
    await using server = await dnsServer({
      [`A ${name}`]: ['127.0.0.2'],
      [`AAAA ${name}`]: ['2001:db8::1'],
      [`MX ${name}`]: ['10 mx.test'],
      [`TXT ${name}`]: ['v=spf1 -all', 'caf\xc3\xa9'],
    });
    const dns = createResolver({ servers: [server.address], ...PATIENT });
    expect(await dns.a(name.toUpperCase())).toMatchObject({ kind: 'found', records: ['127.0.0.2'] });
    expect(await dns.aaaa(name)).toMatchObject({ kind: 'found', records: ['2001:db8::1'] });
    expect(await dns.mx(name)).toMatchObject({ kind: 'found', records: [{ preference: 10, exchange: 'mx.test' }] });
    expect(await dns.txt(name)).toMatchObject({ kind: 'found', records: ['v=spf1 -all', 'caf\xc3\xa9'] });
    expect(await dns.cname(name)).toMatchObject({ kind: 'none', nx: false });
    expect(await dns.a(`other-${name}`)).toMatchObject({ kind: 'none', nx: true });
    server.zone[`A refused-${name}`] = 'REFUSED';
    expect(await dns.a(`refused-${name}`)).toMatchObject({ kind: 'trouble' });
    await dns.a(name);
    expect(server.queried.filter((one) => one === `A ${name}`)).toHaveLength(1);
  },
);

test('what is not there is distinguished from what could not be learned', async () => {
  await using server = await dnsServer({
    'A there.test': ['192.0.2.1'],
    'MX fail.test': 'SERVFAIL',
    'MX refused.test': 'REFUSED',
    'MX broken.test': 'FORMERR',
    'MX silent.test': 'silence',
  });
  const dns = createResolver({ servers: [server.address], ...PATIENT });
  const hasty = createResolver({ servers: [server.address], timeoutMs: 50, tries: 1 });
  expect(await dns.mx('there.test')).toEqual({ kind: 'none', nx: false });
  expect(await dns.mx('nowhere.test')).toEqual({ kind: 'none', nx: true });
  expect(await dns.mx(`${'a'.repeat(64)}.test`)).toEqual({ kind: 'none', nx: true });
  for (const name of ['fail.test', 'refused.test', 'broken.test', 'silent.test'])
    expect(await (name === 'silent.test' ? hasty : dns).mx(name), name).toMatchObject({
      kind: 'trouble',
      why: expect.stringContaining(`MX of ${name}`),
    });
});

test('no server at all is trouble', async () => {
  const server = await dnsServer({});
  await server[Symbol.asyncDispose]();
  const dns = createResolver({ servers: [server.address], timeoutMs: 50, tries: 1 });
  expect(await dns.a('remote.test')).toMatchObject({ kind: 'trouble' });
});

test('answers are remembered for their time, within bounds', async () => {
  await using server = await dnsServer({
    'A a.test': ['192.0.2.1'],
    'A b.test': ['192.0.2.2'],
    'MX c.test': 'SERVFAIL',
  });
  let now = 0;
  const dns = createResolver({ servers: [server.address], monotonic: () => now, ...PATIENT });
  const times = async (lookup: () => Promise<unknown>, at: number): Promise<number> => {
    now = at;
    const before = server.queried.length;
    await lookup();
    return server.queried.length - before;
  };
  const a = () => dns.a('a.test');
  server.ttl = 60;
  expect(await times(a, 0)).toBe(1);
  expect(await times(a, MINUTE - 1)).toBe(0);
  server.ttl = 1_000_000;
  expect(await times(a, MINUTE)).toBe(1);
  expect(await times(a, 60 * MINUTE)).toBe(0);
  expect(await times(a, 61 * MINUTE)).toBe(1);
  server.ttl = 0;
  expect(await times(() => dns.a('b.test'), now)).toBe(1);
  expect(await times(() => dns.a('b.test'), now)).toBe(1);
  const negative = () => dns.mx('nowhere.test');
  expect(await times(negative, now)).toBe(1);
  expect(await times(negative, now + MINUTE - 1)).toBe(0);
  expect(await times(negative, now + 5 * MINUTE)).toBe(1);
});

test('trouble is believed for seconds only', async () => {
  await using server = await dnsServer({ 'MX c.test': 'SERVFAIL' });
  let now = 0;
  const dns = createResolver({ servers: [server.address], monotonic: () => now, ...PATIENT });
  expect(await dns.mx('c.test')).toMatchObject({ kind: 'trouble' });
  server.zone['MX c.test'] = ['10 mx.c.test'];
  now += 5000;
  expect(await dns.mx('c.test')).toMatchObject({ kind: 'found' });
});

test('who asks the same at the same time asks once', async () => {
  await using server = await dnsServer({ 'MX a.test': ['10 mx.a.test'] });
  const dns = createResolver({ servers: [server.address] });
  await Promise.all(Array.from({ length: 50 }, () => dns.mx('A.test')));
  expect(server.queried).toHaveLength(1);
});

test('special-use names are asked for unless that is refused', async () => {
  await using server = await dnsServer({ 'A host.example': ['192.0.2.1'], 'A host.test': ['192.0.2.1'] });
  const requesting = createResolver({ servers: [server.address] });
  const refusing = createResolver({ servers: [server.address], refuseSpecialUse: true });
  for (const name of ['host.example', 'host.test']) {
    expect(await requesting.a(name)).toMatchObject({ kind: 'found' });
    expect(await refusing.a(name)).toEqual({ kind: 'none', nx: true });
  }
});
