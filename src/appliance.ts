import { networkInterfaces } from 'node:os';
import type { Settings } from '../config/settings.ts';
import { createResolver } from '../mail/dns/resolver.ts';
import type { ImapLimits } from '../mail/imap/limits.ts';
import { startImap } from '../mail/imap/server.ts';
import { StoreBackend } from '../mail/imap/store-backend.ts';
import { Housekeeping } from '../mail/jobs/housekeeping.ts';
import type { Log } from '../mail/log.ts';
import { createLogins } from '../mail/login/logins.ts';
import { Throttle } from '../mail/login/throttle.ts';
import { startReceiver } from '../mail/receiver/server.ts';
import { StoreIntake } from '../mail/receiver/store-intake.ts';
import { traceId } from '../mail/receiver/trace-id.ts';
import { type Relay, startRelay } from '../mail/relay/relay.ts';
import { StoreQueue } from '../mail/relay/store-queue.ts';
import { OPERATOR, tenantOf } from '../mail/store/account.ts';
import { openKeyFile } from '../mail/store/key-file.ts';
import type { SecretBox } from '../mail/store/secrets.ts';
import { queueDepth } from '../mail/store/queue.ts';
import { getSetting, setSetting } from '../mail/store/setting.ts';
import { MailStore } from '../mail/store/store.ts';
import { startControl } from './control/server.ts';
import { StoredCredentials } from './credentials.ts';
import { SigningKeys } from './domains/domains.ts';
import { startHttp } from './http/server.ts';
import { httpListeners, imapListeners, smtpListeners } from './listeners.ts';
import type { Metrics } from './metrics.ts';
import { inNetworks, mayReach } from './networks.ts';
import { seed, type Seeded } from './seed.ts';
import { createTlsSource } from './tls/context.ts';
import { version } from './version.ts';

/** A start that cannot go on, told to the person who started it in one sentence. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

export interface Surroundings {
  settings: Settings;
  log: Log;
  metrics: Metrics;
  clock: () => number;
  /** The store can promise nothing any more; the process has to end. */
  fatal: (error: Error) => void;
  /** Other limits of the IMAP door than its own, for measuring. */
  imapLimits?: Partial<ImapLimits>;
}

/** Ports that were really opened; 0 in the settings takes a free one. */
export type Listeners = Partial<
  Record<'http' | 'https' | 'smtp' | 'submission' | 'submissions' | 'imap' | 'imaps', number>
>;

export interface Appliance extends AsyncDisposable {
  readonly listeners: Listeners;
  readonly seeded: Seeded;
  readonly selfSigned: boolean;
}

/** Builds everything that runs, in order; closing takes it down in reverse. */
export async function startAppliance(around: Surroundings): Promise<Appliance> {
  await using stack = new AsyncDisposableStack();
  const { settings, log, metrics, clock } = around;
  const store = stack.use(await openStore(around));
  const secrets = await openSecrets(settings, store);
  const tls = await createTlsSource({
    certFile: settings.tls?.certFile,
    keyFile: settings.tls?.keyFile,
    dataDir: settings.dataDir,
    hostname: settings.hostname,
    log,
  });
  if ('problem' in tls) throw new CannotStart(tls.problem);
  stack.defer(() => tls.close());

  const credentials = stack.use(new StoredCredentials(store));
  const exempt = (ip: string): boolean => inNetworks(ip, settings.exemptNetworks);
  const local = !settings.live;
  const logins = createLogins({
    credentials,
    throttle: new Throttle(),
    clock,
    secret: secrets.subkey('login salt'),
    local,
    exempt,
    log,
    meter: metrics,
  });
  const seeded = await seed({ store, secrets, log }, settings);

  // Local mode talks to nobody: what is for elsewhere waits until a person lets it go.
  const hold = local ? 'local mode: release it to send it' : null;
  const queue = new StoreQueue({ store, hold, traceId });
  const keys = new SigningKeys({ store, secrets }, clock);
  stack.use(new Housekeeping(store, clock, log));
  const intake = new StoreIntake({
    store,
    hold,
    tenantOf: async (account) => (await store.read(tenantOf, { account })) ?? OPERATOR,
    queued: () => queue.changed(),
    clock,
  });
  const receiver = await startReceiver({
    hostname: settings.hostname,
    listeners: smtpListeners(settings),
    intake,
    logins,
    secureContext: () => tls.secureContext(),
    exempt,
    local,
    maxMessageBytes: settings.maxMessageBytes,
    log,
    meter: metrics,
  });
  stack.defer(() => receiver.close());
  const imap = await startImap({
    hostname: settings.hostname,
    listeners: imapListeners(settings),
    logins,
    open: (login) => new StoreBackend(store, login.account, clock),
    limits: { messageBytes: settings.maxMessageBytes, ...around.imapLimits },
    secureContext: () => tls.secureContext(),
    exempt,
    local,
    log,
    meter: metrics,
  });
  stack.defer(() => imap.close());

  const failing = (): string[] => (store.unavailable() === undefined ? [] : ['disk']);
  const http = await startHttp({
    listeners: httpListeners(settings),
    secureContext: () => tls.secureContext(),
    certificate: tls.pair,
    failing,
    metrics,
    version: version(),
    log,
  });
  stack.defer(() => http.close());
  metrics.onScrape(async () => {
    const depth = await store.read(queueDepth, undefined);
    metrics.gauge('queue_rows', depth.due, { state: 'due' });
    metrics.gauge('queue_rows', depth.held, { state: 'held' });
  });
  const listeners = portsOf(receiver.addresses(), imap.addresses(), http.addresses());
  const relay = relayOf(around, queue, keys, receiver.addresses());
  stack.defer(() => relay.close());
  const startedAt = clock();
  const control = await startControl(settings.dataDir, {
    store,
    secrets,
    log,
    clock,
    tenant: OPERATOR,
    queueChanged: () => queue.changed(),
    revoked(account, gone) {
      for (const credential of gone) logins.revoked({ account, credential });
    },
    facts: () =>
      Promise.resolve({
        version: version(),
        mode: settings.live ? 'live' : 'local',
        hostname: settings.hostname,
        startedAt,
        listeners,
        failing: failing(),
      }),
  });
  stack.use(control);

  const everything = stack.move();
  return {
    listeners,
    seeded,
    selfSigned: tls.selfSigned,
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

function openStore({ settings, log, metrics, clock, fatal }: Surroundings): Promise<MailStore> {
  return MailStore.open({
    dataDir: settings.dataDir,
    engine: new URL('./store-thread.ts', import.meta.url),
    keepFree: Math.max(100 * 1024 * 1024, 2 * settings.maxMessageBytes),
    clock,
    log,
    meter: metrics,
    fatal,
  });
}

function relayOf(
  { settings, log, metrics }: Surroundings,
  queue: StoreQueue,
  keys: SigningKeys,
  doors: readonly { door: string; port: number }[],
): Relay {
  const mxPorts = new Set(doors.filter((one) => one.door === 'mx').map((one) => one.port));
  const own = new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address)));
  return startRelay({
    queue,
    resolver: createResolver({
      servers: (settings.resolvers ?? []).map(({ host, port }) =>
        host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
      ),
    }),
    keys: (domain) => keys.of(domain),
    hostname: settings.hostname,
    outboundPort: settings.outboundPort,
    allowPrivate: (ip, port) => mayReach(settings.allowPrivateNetworks, ip, port),
    isOurAddress: (ip, port) => own.has(ip) && mxPorts.has(port),
    log,
    meter: metrics,
  });
}

/** The key file belongs to the database: a missing or a foreign one stops the start, and never becomes a new one. */
async function openSecrets(settings: Settings, store: MailStore): Promise<SecretBox> {
  const check = await store.read(getSetting, { name: 'key-check' });
  const box = await openKeyFile(settings.keyFile, { create: check === undefined });
  if ('problem' in box) throw new CannotStart(box.problem);
  if (check === undefined) {
    await store.write(setSetting, { name: 'key-check', value: Uint8Array.from(box.checkValue()) });
  } else if (!box.verifyCheck(Buffer.from(check))) {
    throw new CannotStart(
      `The key file ${settings.keyFile} is not the one that the database was made with: put the right one back, or name it with MAILSTEAD_KEY_FILE.`,
    );
  }
  return box;
}

function portsOf(
  smtp: readonly { door: string; tls: string; port: number }[],
  imap: readonly { tls: string; port: number }[],
  http: readonly { tls: boolean; port: number }[],
): Listeners {
  const smtpPort = (door: string, tls: string): number | undefined =>
    smtp.find((one) => one.door === door && one.tls === tls)?.port;
  const all = {
    http: http.find((one) => !one.tls)?.port,
    https: http.find((one) => one.tls)?.port,
    smtp: smtpPort('mx', 'starttls'),
    submission: smtpPort('submission', 'starttls'),
    submissions: smtpPort('submission', 'implicit'),
    imap: imap.find((one) => one.tls === 'starttls')?.port,
    imaps: imap.find((one) => one.tls === 'implicit')?.port,
  };
  return Object.fromEntries(Object.entries(all).filter(([, port]) => port !== undefined));
}
