import { createHash } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createResolver } from '../../../mail/dns/resolver.ts';
import { createSecureResolver } from '../../../mail/dns/secure-resolver.ts';
import { quiet } from '../../../mail/log.ts';
import type { AttemptResult } from '../../../mail/store/queue/queue.ts';
import { startRelay, type RelayOptions } from '../../../mail/relay/relay.ts';
import { createTlsPolicyFinder } from '../../../mail/relay/tls-policy/policies.ts';
import type { FetchStsPolicy } from '../../../mail/relay/tls-policy/sts-fetch.ts';
import { StsPolicies, type StsState } from '../../../mail/relay/tls-policy/sts-policies.ts';
import type { StsPolicy } from '../../../mail/store/queue/sts-policy.ts';
import { type Authority, type Issued, testAuthority } from '../../support/authority.ts';
import { type DnsAnswer, type DnsServer, dnsServer } from '../../support/dns-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeQueue } from '../../support/fake-queue.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import { scriptedServer, type ScriptedServer } from '../../support/scripted-smtp.ts';
import { testStore } from '../../support/store.ts';

// The servers share this event loop: who has little patience takes a moment's standstill for silence.
const PATIENT = { connect: 10_000, tls: 10_000, command: 10_000, data: 10_000, block: 10_000, end: 10_000 };
const KNOWN = getCACertificates();
let authority: Authority;
let good: Issued;
let foreign: Issued;

beforeAll(async () => {
  authority = await testAuthority('Known');
  good = await authority.issue(['mx.remote.test']);
  foreign = await (await testAuthority('Stranger')).issue(['mx.remote.test']);
  setDefaultCACertificates([...KNOWN, authority.pem]);
});
afterAll(() => setDefaultCACertificates(KNOWN));

interface World extends AsyncDisposable {
  server: ScriptedServer;
  dns: DnsServer;
  queue: FakeQueue;
  /** Sends to these and waits for what came of it. */
  send(
    to: readonly string[],
    change?: { requireTls?: boolean; body?: string; sender?: undefined },
  ): Promise<AttemptResult[]>;
}

interface Setting {
  zone?: Record<string, DnsAnswer>;
  sts?: (domain: string) => Promise<StsState>;
  dane?: boolean;
  relay?: Partial<RelayOptions>;
}

/** A relay, a DNS that can be made to say that it validates, and one server at 127.0.0.1. */
async function world({ zone = {}, sts, dane = false, relay = {} }: Setting = {}): Promise<World> {
  const server = await scriptedServer();
  server.tls = good.context;
  const dns = await dnsServer({ 'MX remote.test': ['10 mx.remote.test'], 'A mx.remote.test': ['127.0.0.1'], ...zone });
  dns.secure = () => true;
  const clock = new FakeClock();
  const queue = new FakeQueue(() => clock.now());
  const place = { ip: '127.0.0.1', port: Number(dns.address.split(':')[1]) };
  const running = startRelay({
    queue,
    resolver: createResolver({ servers: [dns.address], timeoutMs: 5_000, tries: 1 }),
    keys: () => Promise.resolve([]),
    hostname: 'box.test',
    outboundPort: server.port,
    allowPrivate: () => true,
    isOurAddress: () => false,
    tlsPolicy: createTlsPolicyFinder({
      sts: { find: sts ?? (() => Promise.resolve({ kind: 'none' })) },
      secure: dane ? createSecureResolver({ servers: [place], timeoutMs: 5_000 }) : undefined,
      now: () => clock.now(),
    }),
    clock,
    random: () => 0.5,
    log: quiet,
    meter: quiet,
    ...relay,
    limits: { timeouts: PATIENT },
  });
  return {
    server,
    dns,
    queue,
    async send(to, change = {}) {
      const before = queue.results.length;
      queue.add(to, change);
      return (await queue.recorded(before + to.length)).slice(before);
    },
    async [Symbol.asyncDispose]() {
      await running.close();
      await dns[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function stsPolicy(mode: StsPolicy['mode'], mx: readonly string[] = ['mx.remote.test']): NonNullable<Setting['sts']> {
  const policy = { id: 'a', mode, mx, strings: [`mode: ${mode}`], fetchedAt: 0, expiresAt: Infinity };
  return () => Promise.resolve({ kind: 'policy', policy });
}

const counted = (results: readonly AttemptResult[]): string[] =>
  results.flatMap((one) => one.tlsResults ?? []).map((one) => `${one.type} ${one.result}`);

describe('MTA-STS', () => {
  test('enforced and met', async () => {
    await using box = await world({ sts: stsPolicy('enforce') });
    const [result] = await box.send(['you@remote.test']);
    expect(result).toMatchObject({
      outcome: 'delivered',
      tls: expect.stringMatching(/^TLSv1\.3 \w+, mta-sts$/) as unknown,
    });
    expect(counted([result as AttemptResult])).toEqual(['sts success']);
  });

  test.each<[string, (box: World) => void, string, string]>([
    [
      'a certificate of a stranger',
      ({ server }) => (server.tls = foreign.context),
      'certificate-not-trusted',
      'authority',
    ],
    ['no STARTTLS', ({ server }) => (server.tls = undefined), 'starttls-not-supported', 'STARTTLS'],
    [
      'STARTTLS taken out of the answer by somebody between',
      ({ server }) => (server.script.ehlo = '250-x\r\n250 XXXXXXXA'),
      'starttls-not-supported',
      'STARTTLS',
    ],
    [
      'a handshake that breaks',
      ({ server }) => (server.script.starttls = { close: '220 Go' }),
      'validation-failure',
      'TLS',
    ],
  ])('enforced, and %s: 0 are sent, each waits with the reason', async (_name, spoil, failure, why) => {
    await using box = await world({ sts: stsPolicy('enforce') });
    spoil(box);
    const [result] = await box.send(['you@remote.test']);
    expect(result).toMatchObject({ outcome: 'deferred', host: 'mx.remote.test' });
    expect(result?.text).toContain('the MTA-STS policy of remote.test (mode enforce)');
    expect(result?.text).toContain('mx.remote.test');
    expect(result?.text).toContain(why);
    expect(counted([result as AttemptResult])).toEqual([`sts ${failure}`]);
    expect(box.server.mails).toEqual([]);
  });

  test('enforced, and the MX is not named: it is not even connected to', async () => {
    await using box = await world({ sts: stsPolicy('enforce', ['other.test']) });
    const [result] = await box.send(['you@remote.test']);
    expect(result).toMatchObject({ outcome: 'deferred', status: '4.7.5' });
    expect(result?.text).toContain('does not list (it lists other.test)');
    expect(counted([result as AttemptResult])).toEqual(['sts validation-failure']);
    expect(box.server.connections).toBe(0);
  });

  test('enforced: of nine MX the one that is named takes it', async () => {
    const strays = Array.from({ length: 8 }, (_, n) => `stray${n}.remote.test`);
    const zone: Record<string, DnsAnswer> = {
      'MX remote.test': [...strays.map((name) => `5 ${name}`), '10 mx.remote.test'],
      ...Object.fromEntries(strays.map((name, n) => [`A ${name}`, [`127.0.0.${n + 2}`]])),
    };
    await using box = await world({ zone, sts: stsPolicy('enforce') });
    const [result] = await box.send(['you@remote.test']);
    expect(result).toMatchObject({ outcome: 'delivered', host: 'mx.remote.test' });
    expect(counted([result as AttemptResult])).toEqual([...strays.map(() => 'sts validation-failure'), 'sts success']);
  });

  test.each([
    ['the certificate', ['mx.remote.test'], 'certificate-not-trusted'],
    ['the name', ['other.test'], 'validation-failure'],
  ])('testing: what %s would have failed is delivered and counted', async (_name, mx, failure) => {
    await using box = await world({ sts: stsPolicy('testing', mx) });
    box.server.tls = foreign.context;
    const [result] = await box.send(['you@remote.test']);
    expect(result).toMatchObject({ outcome: 'delivered' });
    expect(result?.tls).toContain('mta-sts testing');
    expect(counted([result as AttemptResult])).toEqual([`sts ${failure}`]);
  });

  test('"TLS-Required: No" goes past a policy, and its connection serves nobody else', async () => {
    await using box = await world({ sts: stsPolicy('enforce') });
    box.server.tls = foreign.context;
    const [waived] = await box.send(['a@remote.test'], { body: 'TLS-Required: No\r\nFrom: me@box.test\r\n\r\nx\r\n' });
    expect(waived).toMatchObject({ outcome: 'delivered', tls: expect.stringContaining('opportunistic') as unknown });
    const [other] = await box.send(['b@remote.test'], { body: 'TLS-Required: yes\r\n\r\nTLS-Required: No\r\n' });
    expect(other).toMatchObject({ outcome: 'deferred' });
    expect(box.server.mails).toHaveLength(1);
  });

  test('the session of a TLS report is not counted: else each report would cause the next one', async () => {
    await using box = await world({ sts: stsPolicy('enforce') });
    const body = 'TLS-Required: No\r\nFrom: mailstead@box.test\r\nSubject: Report Domain: remote.test\r\n\r\nx\r\n';
    const reports = await box.send(['tls@remote.test'], { body, sender: undefined });
    expect(reports).toMatchObject([{ outcome: 'delivered' }]);
    expect(counted(reports)).toEqual([]);
    const bounces = await box.send(['you@remote.test'], { sender: undefined, requireTls: true });
    expect(counted(bounces)).toEqual(['sts success']);
  });

  test('a policy that cannot be had is counted, and one that hangs holds up no other domain', async () => {
    const problem = { failure: 'sts-policy-fetch-error', why: 'down' } as const;
    const hanging = Promise.withResolvers<StsState>();
    const sts: NonNullable<Setting['sts']> = (domain) =>
      domain === 'slow.test' ? hanging.promise : Promise.resolve({ kind: 'none', problem });
    await using box = await world({ zone: { 'MX slow.test': ['10 mx.remote.test'] }, sts });
    box.queue.add(['you@slow.test']);
    const results = await box.send(['you@remote.test']);
    expect(results).toMatchObject([{ outcome: 'delivered' }]);
    expect(counted(results)).toEqual(['sts sts-policy-fetch-error', 'no-policy-found success']);
    expect(box.queue.results).toHaveLength(1);
    hanging.resolve({ kind: 'none' });
  });

  test('a policy that was fetched once holds 0 of 20 downgrades: no record, no DNS, another policy on a false server', async () => {
    await using stored = await testStore();
    const zone: FakeZone = { 'TXT _mta-sts.remote.test': ['v=STSv1; id=one'] };
    let fetch: FetchStsPolicy = () =>
      Promise.resolve({ policy: { mode: 'enforce', mx: ['mx.remote.test'], maxAge: 604_800 }, strings: [] });
    const sts = new StsPolicies({
      store: stored.store,
      resolver: fakeResolver(zone),
      fetch: (domain) => fetch(domain),
      clock: new FakeClock(),
      log: quiet,
      meter: quiet,
    });
    await using box = await world({ sts: (domain) => sts.find(domain) });
    expect(await box.send(['you@remote.test'])).toMatchObject([{ outcome: 'delivered' }]);
    box.server.closeIdle('421 4.0.0 Bye');
    fetch = () => Promise.resolve({ failure: 'sts-webpki-invalid', why: 'a false server' });
    const attacks: (() => void)[] = [
      () => delete zone['TXT _mta-sts.remote.test'],
      () => (zone['TXT _mta-sts.remote.test'] = 'trouble'),
      () => (zone['TXT _mta-sts.remote.test'] = ['v=STSv1; id=two']),
      () => (box.dns.zone['MX remote.test'] = ['10 mx.evil.test']),
    ];
    box.dns.zone['A mx.evil.test'] = ['127.0.0.1'];
    for (const attack of attacks) {
      attack();
      for (const tls of [undefined, foreign.context, undefined, foreign.context, undefined]) {
        box.server.tls = tls;
        expect(await box.send(['you@remote.test'])).toMatchObject([{ outcome: 'deferred' }]);
      }
    }
    expect(box.server.mails).toHaveLength(1);
    await sts.close();
  });

  test('a store that cannot say what the policy is: later', async () => {
    await using box = await world({ sts: () => Promise.reject(new Error('disk')) });
    expect(await box.send(['you@remote.test'])).toMatchObject([{ outcome: 'deferred', status: '4.3.0' }]);
    expect(box.server.connections).toBe(0);
  });
});

/** The record that names the server's key. */
function tlsa(issued: Issued): string {
  const key = issued.leaf.publicKey.export({ format: 'der', type: 'spki' });
  return `3 1 1 ${createHash('sha256').update(key).digest('hex')}`;
}

describe('DANE', () => {
  const at = (box: World): string => `TLSA _${box.server.port}._tcp.mx.remote.test`;

  test('the key that is named, of whatever authority', async () => {
    await using box = await world({ dane: true, sts: stsPolicy('enforce', ['other.test']) });
    box.server.tls = foreign.context;
    box.dns.zone[at(box)] = [tlsa(foreign)];
    const results = await box.send(['you@remote.test']);
    expect(results).toMatchObject([{ outcome: 'delivered', tls: expect.stringMatching(/, dane$/) as unknown }]);
    expect(counted(results)).toEqual(['tlsa success']);
  });

  test('another key: it waits, also where MTA-STS would let it go', async () => {
    await using box = await world({ dane: true, sts: stsPolicy('enforce') });
    box.dns.zone[at(box)] = [tlsa(foreign)];
    const results = await box.send(['you@remote.test']);
    expect(results).toMatchObject([{ outcome: 'deferred', status: '4.7.5' }]);
    expect(results[0]?.text).toContain('the TLSA records of mx.remote.test (DANE)');
    expect(counted(results)).toEqual(['tlsa validation-failure']);
    expect(box.server.mails).toEqual([]);
  });

  test('records that nobody can use still demand TLS', async () => {
    await using box = await world({ dane: true });
    box.dns.zone[at(box)] = ['1 1 1 00'];
    box.server.tls = foreign.context;
    const [result] = await box.send(['you@remote.test']);
    expect(result).toMatchObject({ outcome: 'delivered', tls: expect.stringContaining('dane, no usable') as unknown });
    expect(counted([result as AttemptResult])).toEqual(['tlsa tlsa-invalid']);
    box.server.tls = undefined;
    box.server.closeIdle('421 4.0.0 Bye');
    expect(await box.send(['you@remote.test'])).toMatchObject([{ outcome: 'deferred', status: '4.7.4' }]);
  });

  test('records that cannot be had: it waits, and nothing is weaker', async () => {
    await using box = await world({ dane: true });
    box.dns.zone[at(box)] = 'SERVFAIL';
    const results = await box.send(['you@remote.test']);
    expect(results).toMatchObject([{ outcome: 'deferred', status: '4.7.5' }]);
    expect(counted(results)).toEqual(['tlsa dnssec-invalid']);
    expect(box.server.connections).toBe(0);
  });

  test('what is not proved does not count', async () => {
    await using box = await world({ dane: true });
    box.dns.secure = () => false;
    box.dns.zone[at(box)] = [tlsa(foreign)];
    expect(await box.send(['you@remote.test'])).toMatchObject([
      { outcome: 'delivered', tls: expect.stringContaining('opportunistic, certificate verified') as unknown },
    ]);
  });
});

describe('REQUIRETLS', () => {
  test('goes on to who promises it and can be verified, and its connection serves others', async () => {
    await using box = await world();
    box.server.offers.push('REQUIRETLS');
    expect(await box.send(['a@remote.test'], { requireTls: true })).toMatchObject([
      { outcome: 'delivered', tls: expect.stringContaining('requiretls, certificate verified') as unknown },
    ]);
    expect(await box.send(['b@remote.test'])).toMatchObject([{ outcome: 'delivered' }]);
    expect(box.server.lines.filter((line) => line.includes('MAIL'))).toEqual([
      expect.stringContaining(' REQUIRETLS'),
      expect.not.stringContaining('REQUIRETLS'),
    ]);
    expect(box.server.connections).toBe(1);
  });

  test.each<[string, (server: ScriptedServer) => void, string]>([
    ['does not promise it', (server) => server.offers.pop(), '5.7.30'],
    ['has no TLS', (server) => (server.tls = undefined), '5.7.30'],
    ['cannot be verified', (server) => (server.tls = foreign.context), '5.7.10'],
  ])('comes back from who %s, with the code of RFC 8689', async (_name, spoil, status) => {
    await using box = await world();
    box.server.offers.push('REQUIRETLS');
    spoil(box.server);
    expect(await box.send(['a@remote.test'], { requireTls: true })).toMatchObject([{ outcome: 'failed', status }]);
    expect(box.queue.bounces).toMatchObject([{ kind: 'failure' }]);
    expect(box.server.mails).toEqual([]);
    expect(await box.send(['b@remote.test'])).toMatchObject([{ outcome: 'delivered' }]);
  });
});

describe('where mail may not go, and where it waits', () => {
  test('hosts at private addresses: no connection, and a bounce', async () => {
    const positions = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1', '100.64.0.1'];
    const zone = Object.fromEntries(
      positions.flatMap((ip, n) => [
        [`MX p${n}.test`, [`10 mx.p${n}.test`]],
        [`A mx.p${n}.test`, [ip]],
      ]),
    );
    Object.assign(zone, { 'MX six.test': ['10 mx.six.test'], 'AAAA mx.six.test': ['::1'] });
    await using box = await world({ zone, relay: { allowPrivate: () => false } });
    const results = await box.send([...positions.map((_, n) => `you@p${n}.test`), 'you@six.test']);
    expect(results.map((one) => `${one.outcome} ${one.status}`)).toEqual(Array(6).fill('failed 5.4.4'));
    expect(box.queue.bounces.flatMap((bounce) => bounce.about)).toHaveLength(6);
    expect(box.server.connections).toBe(0);
  });

  test('our own name or address: a bounce that calls it a loop, no connection', async () => {
    const zone = {
      'MX own.test': ['10 box.test'],
      'MX here.test': ['10 mx.here.test'],
      'A mx.here.test': ['127.0.0.1'],
    };
    await using box = await world({ zone, relay: { isOurAddress: () => true } });
    const results = await box.send(['you@own.test', 'you@here.test']);
    expect(results.map((one) => one.status)).toEqual(['5.4.6', '5.4.6']);
    expect(box.server.connections).toBe(0);
  });

  test('null MX is 5.1.10, and the address of a domain without MX takes its mail', async () => {
    const zone = { 'MX null.test': ['0 .'], 'A null.test': ['127.0.0.1'], 'A plain.test': ['127.0.0.1'] };
    await using box = await world({ zone });
    const results = await box.send(['you@null.test', 'you@plain.test']);
    const told = Object.fromEntries(results.map((one) => [box.queue.rows[one.id - 1]?.domain, one.status]));
    expect(told).toEqual({ 'null.test': '5.1.10', 'plain.test': '2.0.0' });
  });

  test('200 server failures of the DNS are 0 bounces', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `d${n}.test`);
    const stage = (n: number, name: string): [string, DnsAnswer][] => {
      if (n % 4 === 0) return [[`MX ${name}`, 'SERVFAIL']];
      if (n % 4 === 1)
        return [
          [`MX ${name}`, [`10 mx.${name}`]],
          [`A mx.${name}`, 'SERVFAIL'],
        ];
      if (n % 4 === 2) return [[`A ${name}`, 'SERVFAIL']];
      return [[`MX ${name}`, 'REFUSED']];
    };
    const zone = Object.fromEntries(names.flatMap((name, n) => stage(n, name)));
    await using box = await world({ zone, dane: true });
    const results = await box.send(names.map((name) => `you@${name}`));
    expect(results.filter((one) => one.outcome === 'deferred' && one.status === '4.4.3')).toHaveLength(200);
    expect(box.queue.bounces).toEqual([]);
  });

  test('a DNS that is cut off: later', async () => {
    await using box = await world({ relay: { resolver: createResolver({ servers: ['127.0.0.1:1'], tries: 1 }) } });
    const results = await box.send(Array.from({ length: 20 }, (_, n) => `you@d${n}.test`));
    expect(new Set(results.map((one) => `${one.outcome} ${one.status}`))).toEqual(new Set(['deferred 4.4.3']));
    expect(box.queue.bounces).toEqual([]);
  });

  test('a port that is closed to the world: later', async () => {
    await using box = await world({ relay: { outboundPort: 1 } });
    expect(await box.send(['you@remote.test'])).toMatchObject([{ outcome: 'deferred', status: '4.4.1' }]);
    expect(box.queue.bounces).toEqual([]);
  });

  test('IPv6 first, then IPv4', async () => {
    const zone = { 'AAAA mx.remote.test': ['::1'] };
    await using box = await world({ zone });
    await using six = await scriptedServer({}, '::1', box.server.port);
    await box.send(['a@remote.test']);
    expect([six.connections, box.server.connections]).toEqual([1, 0]);
    six.script.connect = '421 4.3.2 Not now';
    six.closeIdle('421 4.3.2 Bye');
    await box.send(['b@remote.test']);
    expect(box.server.mails).toHaveLength(1);
  });

  test('mail leaves from the address that is set, and by no other family', async () => {
    const zone = { 'AAAA mx.remote.test': ['::1'], 'MX six.test': ['10 mx.six.test'], 'AAAA mx.six.test': ['::1'] };
    await using box = await world({ zone, relay: { from: { ipv4: '127.0.0.7' }, ehlo: 'out.box.test' } });
    await using six = await scriptedServer({}, '::1', box.server.port);
    const [sent] = await box.send(['a@remote.test']);
    expect(sent).toMatchObject({ outcome: 'delivered', ip: '127.0.0.1' });
    expect(box.server.peers).toEqual(['127.0.0.7']);
    expect(box.server.lines[0]).toBe('1 EHLO out.box.test');
    const [none] = await box.send(['a@six.test']);
    expect(none).toMatchObject({ outcome: 'deferred', status: '4.4.1' });
    expect(none?.text).toContain('MAILSTEAD_OUTBOUND_ADDRESSES');
    expect(six.connections).toBe(0);
  });
});
