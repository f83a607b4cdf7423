import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSecureResolver } from '../../../mail/dns/secure-resolver.ts';
import { quiet } from '../../../mail/log.ts';
import { startRelay, type Relay, type RelayOptions } from '../../../mail/relay/relay.ts';
import { createSmarthostDane } from '../../../mail/relay/tls-policy/policies.ts';
import { testCertificate } from '../../support/certificate.ts';
import { type DnsAnswer, type DnsServer, dnsServer } from '../../support/dns-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeQueue } from '../../support/fake-queue.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import {
  DROP,
  SILENCE,
  scriptedServer,
  type Action,
  type Script,
  type ScriptedServer,
} from '../../support/scripted-smtp.ts';
import type { Smarthost } from '../../../mail/relay/smarthost-policy.ts';

const MINUTE = 60_000;
// The servers share this event loop: who has little patience takes a moment's standstill for silence.
const PATIENT = { connect: 10_000, tls: 10_000, command: 10_000, data: 10_000, block: 10_000, end: 10_000 };
const VIA = { via: 1, failover: undefined };
const STANDBY = { via: undefined, failover: 1 };

const PLAIN = Buffer.from('\0anna\0s3cret').toString('base64');
/** A server that knows anna. */
const knowsAnna: Script = {
  other(line): Action | undefined {
    if (line === `AUTH PLAIN ${PLAIN}`) return '235 2.7.0 Welcome';
    if (line === 'AUTH LOGIN') return '334 VXNlcm5hbWU6';
    if (line === Buffer.from('anna').toString('base64')) return '334 UGFzc3dvcmQ6';
    if (line === Buffer.from('s3cret').toString('base64')) return '235 2.7.0 Welcome';
    return line.startsWith('AUTH') ? '535 5.7.8 Bad credentials' : undefined;
  },
};

interface World extends AsyncDisposable {
  clock: FakeClock;
  queue: FakeQueue;
  zone: FakeZone;
  relay: Relay;
  smarthost: Smarthost;
  server: ScriptedServer;
  told: string[];
}

let context: Awaited<ReturnType<typeof testCertificate>>;
const own = getCACertificates('default');
beforeEach(async () => {
  context = await testCertificate('relay.test');
});
afterEach(() => setDefaultCACertificates(own));
const trust = (): void => setDefaultCACertificates([...own, context.cert]);

/** A relay with a smarthost at relay.test that offers STARTTLS, PLAIN and LOGIN. */
async function world(script: Script = knowsAnna, options: Partial<RelayOptions> = {}): Promise<World> {
  const server = await scriptedServer(script, '127.0.0.2');
  server.tls = createSecureContext(context);
  server.offers.push('AUTH PLAIN LOGIN');
  const clock = new FakeClock();
  const queue = new FakeQueue(() => clock.now());
  const zone: FakeZone = { 'A relay.test': ['127.0.0.2'], 'A remote.test': ['127.0.0.1'] };
  const told: string[] = [];
  const smarthost: Smarthost = {
    id: 1,
    host: 'relay.test',
    port: server.port,
    tls: 'starttls',
    certificate: 'verified',
    login: { username: 'anna', password: 's3cret' },
  };
  const relay = startRelay({
    queue,
    resolver: fakeResolver(zone),
    keys: () => Promise.resolve([]),
    hostname: 'box.test',
    outboundPort: server.port,
    allowPrivate: () => true,
    isOurAddress: () => false,
    smarthost: (id) => Promise.resolve(id === 1 ? { ...smarthost } : undefined),
    clock,
    random: () => 0.5,
    log: { ...quiet, error: (fields, text) => void told.push(`${text} ${JSON.stringify(fields)}`) },
    meter: quiet,
    ...options,
    limits: { timeouts: PATIENT, ...options.limits },
  });
  return {
    clock,
    queue,
    zone,
    relay,
    smarthost,
    server,
    told,
    async [Symbol.asyncDispose]() {
      await relay.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const outcomes = (box: World): string[] => box.queue.results.map((one) => `${one.outcome} ${one.status}`);

describe('a smarthost', () => {
  test.each(['PLAIN LOGIN', 'LOGIN', 'plain'])(
    'that offers %s takes mail for all domains over few connections',
    async (offered) => {
      trust();
      await using box = await world(knowsAnna, { limits: { perDestination: { first: 2, most: 2 } } });
      box.server.offers.splice(-1, 1, `AUTH ${offered}`);
      for (let n = 0; n < 20; n += 1) box.queue.add([`u${n}@d${n}.test`], { nextHop: VIA });
      await box.queue.recorded(20);
      expect(new Set(outcomes(box))).toEqual(new Set(['delivered 2.0.0']));
      expect(box.server.connections).toBeLessThanOrEqual(3);
      expect(box.queue.results[0]).toMatchObject({
        host: 'relay.test',
        tls: expect.stringContaining('certificate verified'),
      });
      expect(box.relay.refusedLogins()).toEqual([]);
    },
  );

  test('by TLS from the first octet', async () => {
    trust();
    await using box = await world();
    const tls = createTlsServer({ ...context, cert: context.cert, key: context.key }, (socket) => {
      const inner = connect(box.server.port, '127.0.0.2');
      socket
        .on('error', () => inner.destroy())
        .pipe(inner)
        .on('error', () => socket.destroy())
        .pipe(socket);
    });
    tls.listen(0, '127.0.0.2');
    await once(tls, 'listening');
    box.server.tls = undefined;
    Object.assign(box.smarthost, { tls: 'implicit', port: (tls.address() as AddressInfo).port });
    box.queue.add(['you@remote.test'], { nextHop: VIA });
    await box.queue.recorded(1);
    expect(outcomes(box)).toEqual(['delivered 2.0.0']);
    tls.close();
  });

  test.each([
    ['a certificate that nobody vouches for', (box: World) => void Object.assign(box.smarthost, {}), '4.7.5'],
    ['no TLS', (box: World) => void (box.server.tls = undefined), '4.7.4'],
    ['another name', (box: World) => (trust(), void Object.assign(box.smarthost, { host: 'other.test' })), '4.7.5'],
  ])('with %s never hears the password', async (_name, change, status) => {
    await using box = await world();
    box.zone['A other.test'] = ['127.0.0.2'];
    change(box);
    box.queue.add(['you@remote.test'], { nextHop: VIA });
    await box.queue.recorded(1);
    expect(outcomes(box)).toEqual([`deferred ${status}`]);
    expect(box.server.lines.filter((line) => line.includes('AUTH'))).toEqual([]);
  });

  test('with any certificate hears it where that was asked for; without a login TLS is not demanded', async () => {
    await using box = await world();
    box.smarthost.certificate = 'any';
    box.queue.add(['you@remote.test'], { nextHop: VIA });
    await box.queue.recorded(1);
    box.smarthost.login = undefined;
    box.server.tls = undefined;
    box.server.closeIdle('421 4.4.2 Idle');
    box.queue.add(['me@remote.test'], { nextHop: VIA });
    await box.queue.recorded(2);
    expect(outcomes(box)).toEqual(['delivered 2.0.0', 'delivered 2.0.0']);
  });

  test('that refuses the login is reported once, left alone for a while, and forgiven when the password is right', async () => {
    trust();
    await using box = await world();
    box.smarthost.login = { username: 'anna', password: 'old' };
    for (let n = 0; n < 10; n += 1) box.queue.add([`u${n}@d${n}.test`], { nextHop: VIA });
    await box.queue.recorded(10);
    expect(new Set(outcomes(box))).toEqual(new Set(['deferred 4.7.8']));
    expect(box.told).toHaveLength(1);
    expect(box.told[0]).not.toContain('old');
    expect(box.server.connections).toBeLessThanOrEqual(2);
    expect(box.relay.refusedLogins()).toMatchObject([{ id: 1, host: 'relay.test', since: box.clock.now() }]);
    expect(box.queue.bounces).toEqual([]);
    box.smarthost.login = { username: 'anna', password: 's3cret' };
    box.clock.advance(6 * MINUTE);
    await box.queue.until(() => box.queue.rows.every((row) => row.state === 'delivered'));
    expect(box.relay.refusedLogins()).toEqual([]);
  });

  test.each([
    ['whose name is nowhere', { host: 'nowhere.test' }, 'deferred 4.4.3'],
    ['that is there no more', undefined, 'deferred 4.3.5'],
  ])('%s makes mail wait and bounces nothing', async (_name, change, expected) => {
    await using box = await world();
    if (change !== undefined) Object.assign(box.smarthost, change);
    box.queue.add(['you@remote.test'], { nextHop: change === undefined ? { via: 9, failover: undefined } : VIA });
    await box.queue.recorded(1);
    expect(outcomes(box)).toEqual([expected]);
  });

  test('at a private address is not dialed for an organization, and is for the operator', async () => {
    trust();
    await using box = await world(knowsAnna, { allowPrivate: () => false });
    box.queue.add(['you@remote.test'], { nextHop: VIA });
    await box.queue.recorded(1);
    expect(outcomes(box)).toEqual(['deferred 4.4.3']);
    expect(box.server.connections).toBe(0);
  });
});

describe('a smarthost that stands by', () => {
  test.each<[string, Script]>([
    ['turned away', { connect: '554 5.7.1 Go away' }],
    ['on a blocklist', { rcpt: '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org' }],
    ['put off for its reputation', { mail: '421 4.7.0 Your IP has a poor reputation' }],
  ])('takes over at once for who is %s, before anybody hears of it', async (_name, script) => {
    trust();
    await using box = await world();
    await using strict = await scriptedServer(script, '127.0.0.1', box.server.port);
    box.queue.add(['you@remote.test'], { nextHop: STANDBY });
    await box.queue.recorded(1);
    expect(box.queue.results[0]).toMatchObject({ outcome: 'deferred', via: 1, nextAt: box.clock.now() });
    await box.queue.recorded(2);
    expect(outcomes(box)[1]).toBe('delivered 2.0.0');
    const taken = strict.mails.filter((mail) => mail.to.length > 0);
    expect([taken.length, box.server.mails.length, box.queue.bounces.length]).toEqual([0, 1, 0]);
  });

  test('takes over for those recipients alone that were refused', async () => {
    trust();
    await using box = await world();
    const rcpt = (line: string) =>
      line.includes('<b@') ? '554 5.7.1 Your host is listed at zen.spamhaus.org' : undefined;
    await using strict = await scriptedServer({ rcpt }, '127.0.0.1', box.server.port);
    box.queue.add(['a@remote.test', 'b@remote.test'], { nextHop: STANDBY });
    await box.queue.recorded(2);
    expect(box.queue.results.map(({ outcome, via }) => [outcome, via])).toEqual([
      ['delivered', undefined],
      ['deferred', 1],
    ]);
    expect(strict.mails.map((mail) => mail.to)).toEqual([['a@remote.test']]);
  });

  test('does not take over when the end was lost: the message may have arrived', async () => {
    await using box = await world();
    await using strict = await scriptedServer({ dot: DROP }, '127.0.0.1', box.server.port);
    box.queue.add(['you@remote.test'], { nextHop: STANDBY });
    await box.queue.recorded(1);
    expect(box.queue.results[0]).toMatchObject({ outcome: 'deferred', status: '4.4.2' });
    expect(box.queue.results[0]?.via).toBeUndefined();
    expect(strict.mails).toHaveLength(1);
  });

  test('takes over when no server anywhere can be reached, and not for one that is dead', async () => {
    await using box = await world({ connect: SILENCE });
    const zone = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`A d${n}.test`, [`127.0.1.${n}`]]));
    Object.assign(box.zone, zone);
    for (let n = 0; n < 3; n += 1) {
      box.queue.add([`u@d${n}.test`], { nextHop: STANDBY });
      await box.queue.recorded(n + 1);
    }
    expect(box.queue.results.map((one) => one.via)).toEqual([undefined, undefined, undefined]);
    box.queue.add(['u@d3.test'], { nextHop: STANDBY });
    await box.queue.recorded(4);
    expect(box.queue.results[3]).toMatchObject({ status: '4.4.1', via: 1 });
  });
});

describe('a smarthost with TLSA records', () => {
  /** DANE for relay.test with these records at the port of its smarthost; `secure` says whether they are proved. */
  async function daneWorld(record: string, secure = true): Promise<World & { dns: DnsServer }> {
    const zone: Record<string, DnsAnswer> = { 'A relay.test': ['127.0.0.2'] };
    const dns = await dnsServer(zone);
    dns.secure = () => secure;
    const place = { ip: '127.0.0.1', port: Number(dns.address.split(':')[1]) };
    const resolver = createSecureResolver({ servers: [place], timeoutMs: 5_000 });
    const box = await world(knowsAnna, { smarthostDane: createSmarthostDane({ secure: resolver, now: Date.now }) });
    zone[`TLSA _${box.server.port}._tcp.relay.test`] = record === 'SERVFAIL' ? record : [record];
    return {
      ...box,
      dns,
      async [Symbol.asyncDispose]() {
        await box[Symbol.asyncDispose]();
        await dns[Symbol.asyncDispose]();
      },
    };
  }

  const key = (): string =>
    createHash('sha256')
      .update(new X509Certificate(context.cert).publicKey.export({ type: 'spki', format: 'der' }))
      .digest('hex');
  const OTHER = `3 1 1 ${'ab'.repeat(32)}`;

  test('is known by them, whoever vouches for its certificate', async () => {
    await using box = await daneWorld(`3 1 1 ${key()}`);
    box.queue.add(['you@remote.test'], { nextHop: VIA });
    const [result] = await box.queue.recorded(1);
    expect(result).toMatchObject({ outcome: 'delivered', tls: expect.stringContaining('dane') as unknown });
  });

  test.each([
    ['that name another key', OTHER],
    ['of which nobody can tell', 'SERVFAIL'],
  ])('%s hears neither password nor mail, also where a public authority vouches for it', async (_name, record) => {
    trust();
    await using box = await daneWorld(record);
    for (const login of [box.smarthost.login, undefined]) {
      box.smarthost.login = login;
      box.queue.add(['you@remote.test'], { nextHop: VIA });
    }
    await box.queue.recorded(2);
    expect(outcomes(box)).toEqual(['deferred 4.7.5', 'deferred 4.7.5']);
    expect(box.server.lines.filter((line) => /AUTH|MAIL/.test(line))).toEqual([]);
  });

  test('that nobody can use is filtered as without them, and never in the clear', async () => {
    trust();
    await using box = await daneWorld('1 1 1 00');
    box.queue.add(['you@remote.test'], { nextHop: VIA });
    await box.queue.recorded(1);
    box.smarthost.login = undefined;
    box.server.tls = undefined;
    box.server.closeIdle('421 4.4.2 Idle');
    box.queue.add(['me@remote.test'], { nextHop: VIA });
    await box.queue.recorded(2);
    expect(outcomes(box)).toEqual(['delivered 2.0.0', 'deferred 4.7.4']);
  });

  test.each([
    ['nobody proved', false, 'verified'],
    ['its route does not ask for', true, 'any'],
  ] as const)('that %s is filtered by its route', async (_name, proved, certificate) => {
    trust();
    await using box = await daneWorld(OTHER, proved);
    box.smarthost.certificate = certificate;
    box.queue.add(['you@remote.test'], { nextHop: VIA });
    await box.queue.recorded(1);
    expect(outcomes(box)).toEqual(['delivered 2.0.0']);
  });
});

describe('REQUIRETLS by a smarthost', () => {
  test('goes on to one that promises it and proves its name, and is no result of TLS-RPT', async () => {
    trust();
    await using box = await world();
    box.server.offers.push('REQUIRETLS');
    box.queue.add(['you@remote.test'], { nextHop: VIA, requireTls: true });
    const [result] = await box.queue.recorded(1);
    expect(result).toMatchObject({ outcome: 'delivered', tls: expect.stringContaining('smarthost') as unknown });
    expect(result?.tlsResults ?? []).toEqual([]);
    expect(box.server.lines.findLast((line) => line.includes('MAIL'))).toContain(' REQUIRETLS');
  });

  test('comes back from one that does not, unlike what is wrong with a setting', async () => {
    trust();
    await using box = await world();
    box.queue.add(['you@remote.test'], { nextHop: VIA, requireTls: true });
    expect(await box.queue.recorded(1)).toMatchObject([{ outcome: 'failed', status: '5.7.30' }]);
    expect(box.server.mails).toEqual([]);
  });
});
