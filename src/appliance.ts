import { createSecretKey, type KeyObject } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import type { Settings } from '../config/settings.ts';
import { authenticate } from '../mail/auth/authenticate.ts';
import { allowAll } from '../mail/delivery/policy.ts';
import { returnPath } from '../mail/delivery/return-path.ts';
import type { Resolver } from '../mail/dns/lookup.ts';
import { isPublicAddress } from '../mail/dns/public-address.ts';
import { createResolver } from '../mail/dns/resolver.ts';
import type { ImapLimits } from '../mail/imap/limits.ts';
import { startImap } from '../mail/imap/server.ts';
import { StoreBackend } from '../mail/imap/store-backend.ts';
import { Housekeeping } from '../mail/jobs/housekeeping.ts';
import { Scheduler } from '../mail/jobs/scheduler.ts';
import { VacationResponder } from '../mail/jobs/vacation-responder.ts';
import type { Log } from '../mail/log.ts';
import { createLogins, type LoginDesk } from '../mail/login/logins.ts';
import { Throttle } from '../mail/login/throttle.ts';
import { isLoopback } from '../mail/receiver/admission.ts';
import { startReceiver } from '../mail/receiver/server.ts';
import { StoreIntake } from '../mail/receiver/store-intake.ts';
import { traceId } from '../mail/receiver/trace-id.ts';
import { type Relay, startRelay } from '../mail/relay/relay.ts';
import type { Smarthost } from '../mail/relay/smarthosts.ts';
import { StoreQueue } from '../mail/relay/store-queue.ts';
import { openKeyFile } from '../mail/store/key-file.ts';
import type { SecretBox } from '../mail/store/secrets.ts';
import { queueDepth } from '../mail/store/queue.ts';
import { getSetting, setSetting } from '../mail/store/setting.ts';
import { MailStore } from '../mail/store/store.ts';
import { startControl } from './control/server.ts';
import { StoredCredentials } from './credentials.ts';
import { askServer } from './dns/ask.ts';
import { type DnsServer, startDns } from './dns/server.ts';
import { SigningKeys } from './domains/domains.ts';
import { type AskParents, parentsOf } from './domains/parents.ts';
import { Recheck } from './domains/recheck.ts';
import { boxZones } from './domains/zones.ts';
import { httpDoors } from './http/doors.ts';
import { HttpLimits } from './http/rate.ts';
import { startHttp } from './http/server.ts';
import { dnsHosts, httpListeners, imapListeners, smtpListeners } from './listeners.ts';
import type { Metrics } from './metrics.ts';
import { inNetworks, mayReach } from './networks.ts';
import { OutboundTls } from './outbound-tls.ts';
import { seed, type Seeded } from './seed.ts';
import { senderOf } from './sending/allowance.ts';
import { boxSmarthost, StoredSmarthosts } from './routes/smarthosts.ts';
import { Runner } from './services/runner.ts';
import { createTlsSource, type TlsSource } from './tls/context.ts';
import { LastUsed } from './tokens/last-used.ts';
import type { World } from './operations/world.ts';
import { version } from './version.ts';
import { Courier } from './webhooks/courier.ts';

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
  /** Mail is refused for now while the disk has less free than this, in octets. Left out: room for what is under way. */
  keepFree?: number;
  /** Other limits of the IMAP door than its own, for measuring. */
  imapLimits?: Partial<ImapLimits>;
  /** Where other people's MTA-STS policies are served when it is not port 443, for tests. */
  policyPort?: number;
  /** Where other people's name servers listen when it is not port 53, for tests. */
  nameServerPort?: number;
}

/** Ports that were really opened; 0 in the settings takes a free one. */
export type Listeners = Partial<
  Record<'http' | 'https' | 'smtp' | 'submission' | 'submissions' | 'imap' | 'imaps' | 'dns', number>
>;

export interface Appliance extends AsyncDisposable {
  readonly listeners: Listeners;
  readonly seeded: Seeded;
  readonly selfSigned: boolean;
  /** {base_url}, without a slash at the end. */
  readonly baseUrl: string;
}

/** What the doors share. */
interface Inside extends Surroundings {
  store: MailStore;
  secrets: SecretBox;
  tls: TlsSource;
  logins: LoginDesk;
  queue: StoreQueue;
  smarthosts: StoredSmarthosts;
  keys: SigningKeys;
  resolver: Resolver;
  /** Remembers nothing. */
  lookNow: Resolver;
  parents: AskParents;
  lastUsed: LastUsed;
  /** Networks that limits do not count. */
  exempt: (ip: string) => boolean;
  /** Why mail for elsewhere waits; null lets it go. */
  hold: string | null;
  local: boolean;
  /** Names of the readiness checks that fail now. */
  failing: () => string[];
}

/** Builds everything that runs, in order; closing takes it down in reverse, the doors together. */
export async function startAppliance(around: Surroundings): Promise<Appliance> {
  await using stack = new AsyncDisposableStack();
  const inside = await furnish(around, stack);
  const { store, secrets, log, settings } = inside;
  const seeded = await seed({ store, secrets, log }, settings);
  stack.use(new Housekeeping(store, around.clock, log));

  const doors: { close(): Promise<void> }[] = [];
  stack.defer(() => closeAll(doors));
  const receiver = await openReceiver(inside);
  doors.push(receiver);
  const imap = await openImap(inside);
  doors.push(imap);
  const listeners: Listeners = {};
  const leaving: { relay?: Relay } = {};
  const world = worldOf(inside, listeners, () => leaving.relay?.refusedLogins() ?? []);
  const http = await openHttp(inside, world);
  doors.push(http);
  const relay = openRelay(inside, stack.use(new OutboundTls(inside)), receiver.addresses());
  doors.push(relay);
  leaving.relay = relay;
  const dns = await openDns(inside);
  stack.defer(async () => dns?.close());
  stack.use(new Recheck(inside));
  stack.use(
    new Scheduler({
      ...inside,
      hostname: settings.hostname,
      forwardKey: secrets.subkey('forwarding'),
      queued: () => inside.queue.changed(),
    }),
  );
  stack.use(openVacation(inside));
  if (dns !== undefined) listeners.dns = dns.port;
  Object.assign(listeners, portsOf(receiver.addresses(), imap.addresses(), http.addresses()));
  stack.use(
    new Courier({ ...inside, baseUrl: world.baseUrl, version: version(), queued: () => inside.queue.changed() }),
  );
  stack.use(world.runner);
  await world.runner.begin();
  stack.use(await startControl(settings.dataDir, world));

  const everything = stack.move();
  return {
    listeners,
    seeded,
    selfSigned: inside.tls.selfSigned,
    baseUrl: world.baseUrl(),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** All at the same time: the patience of each for its peers, one after the other, would be longer than a stop may take. */
async function closeAll(doors: readonly { close(): Promise<void> }[]): Promise<void> {
  const ends = await Promise.allSettled(doors.map((door) => door.close()));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Everything that has no door: store, keys, certificate, logins, queue. */
async function furnish(around: Surroundings, stack: AsyncDisposableStack): Promise<Inside> {
  const { settings, log, metrics, clock } = around;
  const store = stack.use(await openStore(around));
  const secrets = await openSecrets(settings, store);
  const tls = await openTls(around);
  stack.defer(() => tls.close());
  const exempt = (ip: string): boolean => inNetworks(ip, settings.exemptNetworks);
  const local = !settings.live;
  const logins = createLogins({
    credentials: stack.use(new StoredCredentials(store)),
    throttle: new Throttle(),
    clock,
    secret: secrets.subkey('login salt'),
    local,
    exempt,
    log,
    meter: metrics,
  });
  // Local mode talks to nobody: what is for elsewhere waits until a person lets it go.
  const hold = local ? 'local mode: release it to send it' : null;
  const queue = new StoreQueue({ store, hold, smarthost: settings.smarthost?.use, traceId });
  const smarthosts = new StoredSmarthosts(store, secrets, await openSmarthost(settings));
  const keys = new SigningKeys({ store, secrets }, clock);
  const failing = (): string[] => (store.unavailable() === undefined ? [] : ['disk']);
  const servers = (settings.resolvers ?? []).map(({ host, port }) =>
    host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
  );
  const resolver = createResolver({ servers });
  const lookNow = createResolver({ servers, remember: false, timeoutMs: 3000 });
  const parents = openParents(around, lookNow);
  const lastUsed = stack.use(new LastUsed(store));
  return {
    ...around,
    store,
    secrets,
    tls,
    logins,
    queue,
    smarthosts,
    keys,
    resolver,
    lookNow,
    parents,
    lastUsed,
    exempt,
    hold,
    local,
    failing,
  };
}

/** What operations may use. `listeners` is filled in when all doors are open. */
function worldOf(inside: Inside, listeners: Listeners, refusedLogins: World['refusedLogins']): World {
  const { settings, clock, logins, queue } = inside;
  const local = (): string => `http://127.0.0.1:${listeners.http ?? listeners.https ?? 0}`;
  const baseUrl = (): string => settings.baseUrl ?? local();
  const ports = (): Listeners => listeners;
  return {
    ...inside,
    limits: new HttpLimits((ip) => inside.exempt(ip) || (inside.local && isLoopback(ip))),
    certificate: () => ({ pem: inside.tls.pair.cert, selfSigned: inside.tls.selfSigned }),
    startedAt: clock(),
    policy: allowAll,
    baseUrl,
    ports,
    runner: new Runner({ ...inside, baseUrl, ports }),
    revoked(account, gone) {
      if (gone === undefined) logins.revoked({ account });
      for (const credential of gone ?? []) logins.revoked({ account, credential });
    },
    catalogue: async () => (await import('./operations/catalogue.ts')).CATALOGUE,
    queueChanged: () => queue.changed(),
    refusedLogins,
  };
}

function openReceiver({
  settings,
  store,
  secrets,
  hold,
  queue,
  logins,
  resolver,
  tls,
  exempt,
  local,
  log,
  metrics,
  clock,
}: Inside) {
  const intake = new StoreIntake({
    store,
    hostname: settings.hostname,
    hold,
    forwardKey: secrets.subkey('forwarding'),
    reportKey: reportKeyOf(secrets),
    authenticate: local ? null : (mail) => authenticate(mail, { resolver, hostname: settings.hostname }),
    log,
    meter: metrics,
    senderOf: (account) => senderOf(store, settings, account),
    queued: () => queue.changed(),
    clock,
  });
  return startReceiver({
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
}

function openImap({ settings, store, logins, tls, exempt, local, log, metrics, clock, imapLimits }: Inside) {
  return startImap({
    hostname: settings.hostname,
    listeners: imapListeners(settings),
    logins,
    open: (login) => new StoreBackend(store, login.account, clock),
    limits: { messageBytes: settings.maxMessageBytes, ...imapLimits },
    secureContext: () => tls.secureContext(),
    exempt,
    local,
    log,
    meter: metrics,
  });
}

function openHttp({ settings, store, tls, failing, metrics, log, clock }: Inside, world: World) {
  metrics.onScrape(async () => {
    const depth = await store.scan(queueDepth, undefined);
    metrics.gauge('queue_rows', depth.due, { state: 'due' });
    metrics.gauge('queue_rows', depth.held, { state: 'held' });
    metrics.gauge('queue_oldest_seconds', depth.oldest === undefined ? 0 : (clock() - depth.oldest) / 1000);
  });
  return startHttp({
    listeners: httpListeners(settings),
    secureContext: () => tls.secureContext(),
    certificate: tls.pair,
    failing,
    metrics,
    log,
    trusted: (ip) => inNetworks(ip, settings.trustProxy),
    doors: httpDoors(world),
  });
}

/** Answers for people who are away. */
function openVacation({ store, settings, secrets, queue, hold, clock, log }: Inside): VacationResponder {
  return new VacationResponder({
    store,
    hostname: settings.hostname,
    clock,
    log,
    forwardKey: secrets.subkey('forwarding'),
    hold,
    senderOf: (account) => senderOf(store, settings, account),
    policy: allowAll,
    traceId,
    queued: () => queue.changed(),
  });
}

/** The name server, where the settings ask for it: the keys of every domain, and the domains that are led here. */
function openDns({ settings, store, resolver, metrics, log }: Inside): Promise<DnsServer> | undefined {
  const hosts = dnsHosts(settings);
  const { dns: port } = settings.ports;
  if (port === undefined) return undefined;
  return startDns({ hosts, port, find: boxZones(store, resolver, settings.hostname), log, meter: metrics });
}

/** Asks other people's name servers directly, those at private addresses only where the settings allow it. */
function openParents({ settings, nameServerPort: port = 53 }: Surroundings, resolver: Resolver): AskParents {
  return parentsOf({
    resolver,
    mayAsk: (ip) => isPublicAddress(ip) || mayReach(settings.allowPrivateNetworks, ip, port),
    ask: (ip, domain) => askServer({ ip, port }, domain),
  });
}

/** Of the senders under which single copies leave. */
const reportKeyOf = (secrets: SecretBox): KeyObject => createSecretKey(secrets.subkey('reports'));

/** `doors` are the SMTP listeners that were opened: the relay must not deliver to its own box. */
function openRelay(
  { settings, store, secrets, queue, smarthosts, keys, resolver, log, metrics }: Inside,
  tls: OutboundTls,
  doors: readonly { door: string; port: number }[],
): Relay {
  const mxPorts = new Set(doors.filter((one) => one.door === 'mx').map((one) => one.port));
  const own = new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address)));
  const reportKey = reportKeyOf(secrets);
  const { outboundAddresses: from } = settings;
  for (const ip of [from?.ipv4, from?.ipv6]) {
    if (ip === undefined || own.has(ip)) continue;
    log.warn({ ip }, 'this machine does not have the address that MAILSTEAD_OUTBOUND_ADDRESSES names; mail waits');
  }
  return startRelay({
    queue,
    resolver,
    keys: (domain) => keys.of(domain),
    returnPath: (item) => returnPath(store, reportKey, item),
    smarthost: (id) => smarthosts.find(id),
    hostname: settings.hostname,
    ehlo: settings.outboundHostname,
    from,
    tlsPolicy: tls.find,
    outboundPort: settings.outboundPort,
    allowPrivate: (ip, port) => mayReach(settings.allowPrivateNetworks, ip, port),
    isOurAddress: (ip, port) => own.has(ip) && mxPorts.has(port),
    log,
    meter: metrics,
  });
}

async function openSmarthost(settings: Settings): Promise<Smarthost | undefined> {
  const smarthost = await boxSmarthost(settings);
  if (smarthost !== undefined && 'problem' in smarthost) throw new CannotStart(smarthost.problem);
  return smarthost;
}

async function openTls({ settings, log }: Surroundings): Promise<TlsSource> {
  const { tls, dataDir, hostname } = settings;
  const source = await createTlsSource({ certFile: tls?.certFile, keyFile: tls?.keyFile, dataDir, hostname, log });
  if ('problem' in source) throw new CannotStart(source.problem);
  return source;
}

function openStore({ settings, log, metrics, clock, fatal, keepFree }: Surroundings): Promise<MailStore> {
  return MailStore.open({
    dataDir: settings.dataDir,
    engine: new URL('./store-thread.ts', import.meta.url),
    keepFree: keepFree ?? Math.max(100 * 1024 * 1024, 2 * settings.maxMessageBytes),
    clock,
    log,
    meter: metrics,
    fatal,
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
