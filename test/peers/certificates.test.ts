import { createHash, createPublicKey, type X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { createResolver } from '../../mail/dns/resolver.ts';
import { paccDigestText } from '../../src/client-setup/pacc.ts';
import { createSecureResolver } from '../../mail/dns/secure-resolver.ts';
import { acmeProxy } from '../support/acme-proxy.ts';
import { type AcmeWorld, acmeWorld, HOST, presented, secured, TLS_PORTS } from '../support/acme-box.ts';

const KEY_ZONE = `dkim.${HOST}`;
const statuses = async (world: AcmeWorld): Promise<string[]> =>
  (await world.certificates()).map(({ name, algorithm, status }) => `${name} ${algorithm} ${status}`);

/** Leads the zone of keys to the name server of the box. */
function leadKeyZone({ internet, appliance }: AcmeWorld): void {
  internet.delegate(KEY_ZONE, [HOST], appliance.listeners.dns ?? 0);
}

test.each(['http-01', 'tls-alpn-01'])('a new box has a valid certificate on all ports by %s', async (challenge) => {
  await using world = await acmeWorld({ settings: { MAILSTEAD_ACME_CHALLENGE: challenge } });
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`]);
  for (const port of TLS_PORTS) expect((await presented(world, port)).subjectaltname, port).toBe(`DNS:${HOST}`);
  // Clients without SNI and clients of other names get it too.
  const other = await secured(world, 'https', 'localhost', { rejectUnauthorized: false });
  expect(other.getPeerCertificate().subjectaltname).toBe(`DNS:${HOST}`);
  other.destroy();
});

test('by dns-01 through the name server of the box, behind a CNAME', async () => {
  await using world = await acmeWorld({ settings: { MAILSTEAD_ACME_CHALLENGE: 'dns-01' } });
  await expect.poll(async () => (await world.certificates())[0]?.error).toContain('no challenge that it offers');
  world.internet.publish(`_acme-challenge.${HOST}. 60 IN CNAME host.acme.${KEY_ZONE}.`);
  leadKeyZone(world);
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`]);
  expect((await presented(world, 'imaps')).subjectaltname).toBe(`DNS:${HOST}`);
});

test('a hosted domain has a certificate of its own for the names that point here, chosen by SNI on all ports', async () => {
  await using world = await acmeWorld();
  world.internet.publish(
    'mta-sts.team.test. 60 IN A 127.0.0.1\nautoconfig.team.test. 60 IN A 127.0.0.1\nautodiscover.team.test. 60 IN A 192.0.2.1',
  );
  await world.ask('add_domain', { domain: 'team.test' });
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`, 'team.test ecdsa valid']);
  for (const port of TLS_PORTS) {
    const { subjectaltname } = await presented(world, port, 'mta-sts.team.test');
    expect(subjectaltname, port).toBe('DNS:mta-sts.team.test, DNS:autoconfig.team.test');
    expect((await presented(world, port)).subjectaltname, port).toBe(`DNS:${HOST}`);
  }
});

test('a name that cannot be proved delays no other, and joins them later', async () => {
  await using world = await acmeWorld({ settings: { MAILSTEAD_ACME_CHALLENGE: 'dns-01' }, pause: 3_000 });
  leadKeyZone(world);
  world.internet.publish(`_acme-challenge.${HOST}. 60 IN CNAME host.acme.${KEY_ZONE}.`);
  for (const name of ['mta-sts', 'autoconfig']) world.internet.publish(`${name}.team.test. 60 IN A 127.0.0.1`);
  world.internet.publish(`_acme-challenge.mta-sts.team.test. 60 IN CNAME team.acme.${KEY_ZONE}.`);
  await world.ask('add_domain', { domain: 'team.test' });
  const team = async () => (await world.certificates()).find(({ name }) => name === 'team.test');
  await expect.poll(team).toMatchObject({ names: ['mta-sts.team.test'] });
  const later = expect.objectContaining({
    name: 'autoconfig.team.test',
    error: expect.stringMatching(/^none: no/) as unknown,
  });
  await expect.poll(team).toMatchObject({ refusedNames: [later as unknown] });
  world.internet.publish(`_acme-challenge.autoconfig.team.test. 60 IN CNAME other.acme.${KEY_ZONE}.`);
  await expect.poll(team).toMatchObject({ names: ['mta-sts.team.test', 'autoconfig.team.test'], status: 'valid' });
});

test('old clients get an RSA certificate beside the one with ECDSA', async () => {
  await using world = await acmeWorld({ settings: { MAILSTEAD_ACME_KEYS: 'ecdsa,rsa' } });
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`, `${HOST} rsa valid`]);
  for (const [ciphers, type] of [
    ['ECDHE-RSA-AES128-GCM-SHA256', 'rsa'],
    ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ec'],
  ] as const) {
    const socket = await secured(world, 'smtp', HOST, { maxVersion: 'TLSv1.2', ciphers });
    expect(socket.getPeerX509Certificate()?.publicKey.asymmetricKeyType).toBe(type);
    socket.destroy();
  }
});

test('an authority that is down delays nothing else, and a restart needs none', async () => {
  await using world = await acmeWorld();
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`]);
  await world.pebble.stop();
  await world.restart();
  for (const port of TLS_PORTS) expect((await presented(world, port)).subjectaltname, port).toBe(`DNS:${HOST}`);
  await world.ask('renew_certificate', { name: HOST });
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa renewal_failing`]);
  expect((await world.certificates())[0]?.error).toMatch(/^the request to acme\.test:\d+ failed \(ECONNREFUSED\)/);
  expect((await presented(world, 'submissions')).subjectaltname).toBe(`DNS:${HOST}`);
  const status = (await world.ask('get_status'))['certificates'] as { failing: string[] };
  expect(status.failing).toEqual([expect.stringContaining('ECONNREFUSED')]);
});

test('a wrong clock is named as the reason', async () => {
  const years = 6 * 365 * 86_400_000;
  await using world = await acmeWorld({ clock: () => Date.now() + years });
  await expect.poll(async () => (await world.certificates())[0]?.error).toMatch(/clock of this machine/);
});

test('no private key is readable in the data directory', async () => {
  await using world = await acmeWorld();
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`]);
  await world.appliance[Symbol.asyncDispose]();
  for (const name of await readdir(world.dataDir, { recursive: true, withFileTypes: true })) {
    if (!name.isFile() || name.name === 'self-signed.pem') continue;
    const octets = await readFile(join(name.parentPath, name.name));
    expect(octets.includes('PRIVATE KEY'), name.name).toBe(false);
  }
});

test('the authority decides by ARI when a certificate is renewed, and the next one names what it replaces', async () => {
  let window = { start: '2031-01-01T00:00:00Z', end: '2031-02-01T00:00:00Z' };
  await using stack = new AsyncDisposableStack();
  let now = Date.now();
  const queried: string[] = [];
  const world = stack.use(
    await acmeWorld({
      clock: () => now,
      directory: async (pebble) => {
        const proxy = stack.use(await acmeProxy(pebble, { window: () => window }));
        proxy.queried = queried;
        return proxy.directory;
      },
    }),
  );
  await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`]);
  const first = (await presented(world, 'https')).serialNumber;
  await expect
    .poll(async () => (await world.certificates())[0])
    .toMatchObject({
      renewAt: expect.stringMatching(/^2031-01-/) as unknown,
    });
  // It is revoked: the window has passed.
  window = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' };
  now += 2 * 60_000;
  await expect.poll(async () => (await presented(world, 'https')).serialNumber).not.toBe(first);
});

const RENEWALS = 100;

test(
  `${RENEWALS} renewals by an authority that refuses half of all nonces and fails at random: always valid, no session lost, no moment without a matching TLSA record`,
  { timeout: 600_000 },
  async () => {
    await using stack = new AsyncDisposableStack();
    let ahead = 0;
    let failed = (): number => 0;
    const world = stack.use(
      await acmeWorld({
        clock: () => Date.now() + ahead,
        pebble: { nonceReject: 50 },
        directory: async (pebble) => {
          const proxy = stack.use(await acmeProxy(pebble, { failing: 0.1 }));
          failed = proxy.failed;
          return proxy.directory;
        },
      }),
    );
    leadKeyZone(world);
    world.internet.publish(`_25._tcp.${HOST}. 60 IN CNAME _25._tcp.${KEY_ZONE}.`);
    await expect.poll(() => statuses(world)).toEqual([`${HOST} ecdsa valid`]);
    const sessions = await logIn(world);
    const dropped: string[] = [];
    for (const [port, session] of sessions) session.on('data', () => undefined).on('close', () => dropped.push(port));
    const keepAlive = (): void => sessions.forEach(([port, session]) => void session.write(NOOP[port]));
    const watch = watchListeners(world);
    const keys = new Set<string>();
    for (let renewal = 0; renewal < RENEWALS; renewal += 1) {
      const before = await issuedAt(world);
      // Past the time for which the next key is published before its use.
      ahead += 2 * 3_600_000;
      if (renewal % 10 === 0) keepAlive();
      await world.ask('renew_certificate', { name: HOST });
      await expect.poll(() => issuedAt(world), { timeout: 60_000, interval: 20 }).not.toBe(before);
      keys.add(await keyHash(world, 'smtp'));
    }
    const { polls, refused } = await watch.stop();
    console.log(`${RENEWALS} renewals, ${keys.size} keys, ${failed()} failed requests, ${polls} handshakes watched`);
    expect(refused).toEqual([]);
    expect(dropped).toEqual([]);
    expect(polls).toBeGreaterThan(RENEWALS);
    // A clock that jumps before the next key is stored keeps the key for one renewal more.
    expect(keys.size).toBeGreaterThan(RENEWALS / 4);
    for (const [, session] of sessions) session.destroy();
  },
);

const NOOP = {
  imaps: 'a NOOP\r\n',
  imap: 'a NOOP\r\n',
  submissions: 'NOOP\r\n',
  submission: 'NOOP\r\n',
} as const;

/** Opens sessions that are logged in, which have no limit of a few commands. */
async function logIn(world: AcmeWorld): Promise<[keyof typeof NOOP, TLSSocket][]> {
  await world.ask('add_domain', { domain: 'box.test' });
  const address = 'me@box.test';
  const { password } = await world.ask('add_mailbox', { address });
  const plain = Buffer.from(`\0${address}\0${String(password)}`).toString('base64');
  const sessions: [keyof typeof NOOP, TLSSocket][] = [];
  for (const port of ['imaps', 'imap', 'submissions', 'submission'] as const) {
    const session = await secured(world, port);
    let said = '';
    session.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')));
    session.write(port.startsWith('imap') ? `a AUTHENTICATE PLAIN ${plain}\r\n` : 'EHLO client.example\r\n');
    await expect.poll(() => said).toMatch(/^a OK|^250 /m);
    if (!port.startsWith('imap')) session.write(`AUTH PLAIN ${plain}\r\n`);
    if (!port.startsWith('imap')) await expect.poll(() => said).toMatch(/^235 /m);
    sessions.push([port, session]);
  }
  return sessions;
}

async function issuedAt(world: AcmeWorld): Promise<string> {
  const [one] = (await world.certificates()) as unknown as { notAfter: string; renewAt: string }[];
  return `${one?.notAfter} ${one?.renewAt.startsWith('1970') === true ? '' : one?.renewAt}`;
}

async function keyHash(world: AcmeWorld, port: (typeof TLS_PORTS)[number]): Promise<string> {
  const socket = await secured(world, port);
  const hash = hashOf(socket);
  socket.destroy();
  return hash;
}

function hashOf(socket: TLSSocket): string {
  const certificate = socket.getPeerX509Certificate() as X509Certificate;
  const spki = createPublicKey(certificate.publicKey.export({ type: 'spki', format: 'pem' }));
  return createHash('sha256')
    .update(spki.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/**
 * Connects to all listeners in turn as a client that verifies, and to the MX as a DANE sender: with the records of a fresh
 * lookup, and with those of the lookup before, as from a cache.
 */
function watchListeners(world: AcmeWorld): { stop(): Promise<{ polls: number; refused: string[] }> } {
  const refused: string[] = [];
  let polls = 0;
  const stopping = new AbortController();
  let cached: string[] | undefined;
  const lookUp = async (): Promise<string[]> => {
    const [ip = '', port = ''] = world.internet.address.split(':');
    const found = await createSecureResolver({ servers: [{ ip, port: Number(port) }] }).tlsa(`_25._tcp.${HOST}`);
    return found.kind === 'found' ? found.records.map(({ data }) => data.toString('hex')) : [];
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      for (const port of TLS_PORTS) {
        const fresh = port === 'smtp' ? await lookUp() : undefined;
        try {
          const hash = await keyHash(world, port);
          if (fresh?.includes(hash) === false) refused.push(`no TLSA record of ${fresh.length} for ${hash}`);
          if (fresh !== undefined && cached?.includes(hash) === false) refused.push('no TLSA record in the cache');
        } catch (error) {
          refused.push(`${port}: ${(error as Error).message}`);
        }
        cached = fresh ?? cached;
        polls += 1;
      }
    }
  };
  const done = loop();
  return {
    async stop() {
      stopping.abort();
      await done;
      return { polls, refused };
    },
  };
}

test('by dns-01 in a domain that this server leads, which also answers its SRV records', async () => {
  await using world = await acmeWorld({ settings: { MAILSTEAD_ACME_CHALLENGE: 'dns-01' } });
  const { internet, appliance } = world;
  leadKeyZone(world);
  await world.ask('add_email_domain', { domain: 'led.test' });
  const { wantedNameServers: [own = ''] = [] } = (await world.ask('apply_managed_dns', { domain: 'led.test' })) as {
    wantedNameServers?: string[];
  };
  // The parent's name servers are at port 53, which nothing here may use: only the resolver has the delegation.
  internet.delegate('led.test', [own]);
  expect(await world.ask('apply_managed_dns', { domain: 'led.test' })).toMatchObject({ managed: true });
  internet.delegate('led.test', [own], appliance.listeners.dns ?? 0);
  expect(await world.ask('verify_email_domain', { domain: 'led.test' })).toMatchObject({ verified: true });
  const led = async () => (await world.certificates()).find(({ name }) => name === 'led.test');
  const names = ['mta-sts', 'autoconfig', 'autodiscover', 'ua-auto-config'].map((label) => `${label}.led.test`);
  await expect.poll(led).toMatchObject({ status: 'valid', names });

  const resolver = createResolver({ servers: [internet.address], cache: false });
  for (const [service, port] of Object.entries({ _imaps: 993, _submissions: 465, _jmap: 443 }))
    expect(await resolver.srv(`${service}._tcp.led.test`)).toMatchObject({
      kind: 'found',
      records: [{ priority: 0, weight: 1, port, target: HOST }],
    });
  // The digest of the settings document, for which mail programs look before they trust it.
  const texts = await resolver.txt('_ua-auto-config.led.test');
  expect(texts).toMatchObject({
    kind: 'found',
    records: [paccDigestText('led.test', { hostname: HOST, baseUrl: `https://${HOST}` })],
  });
  // A service that is not offered has no record, and its name exists no further.
  expect(await resolver.srv('_pop3s._tcp.led.test')).toMatchObject({ kind: 'none', nx: true });
  // The name in between exists, without records. RFC 8020 2.
  expect(await resolver.txt('_tcp.led.test')).toMatchObject({ kind: 'none', nx: false });
});
