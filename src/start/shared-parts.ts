import { RecentLog } from '../core/recent-log.ts';
import { restoreClock } from '../../mail/jobs/clock-check.ts';
import { DmarcCounter } from '../../mail/jobs/dmarc-counter.ts';
import { MemoryBudget } from '../../mail/limits/memory-budget.ts';
import { Scheduler } from '../../mail/jobs/scheduler.ts';
import { Agents } from '../agents/agents.ts';
import { inNetworks, mayReach } from '../core/networks.ts';
import { TextReader } from '../reading/worker/text-reader.ts';
import { PdfReader } from '../reading/pdf/read-pdf.ts';
import { ChallengeAnswers } from '../acme/challenge-answers.ts';
import { tlsaToPublish } from '../certificates/dane.ts';
import { loadCertificates } from '../certificates/load.ts';
import { secureResolver } from '../tls/outbound-tls.ts';
import { ServedCertificates } from '../tls/served-certificates.ts';
import { createTlsSource, type TlsSource } from '../tls/tls-source.ts';
import { LastUsed } from '../tokens/last-used.ts';
import { memoryShares } from './memory-shares.ts';
import { CannotStart, type StartOptions } from './options.ts';
import { createStorage, type StorageServices } from './store.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { isPublicAddress } from '../../mail/dns/public-address.ts';
import { createResolver } from '../../mail/dns/resolver.ts';
import { queryNameServers } from '../name-server/ask.ts';
import { DomainPublisher, type TlsaPublication } from '../dns-providers/publisher.ts';
import { createProviderTransport } from '../dns-providers/transport.ts';
import { type QueryParents, parentsOf } from '../domains/parents.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { SigningKeys } from '../domains/domains.ts';
import { boxSmarthost, StoredSmarthosts } from '../smarthosts/smarthosts.ts';
import type { Smarthost } from '../../mail/relay/smarthost-policy.ts';
import { Guard } from '../../mail/guard/guard.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import { TokenLogins } from '../agents/token-logins.ts';
import { createLogins, type Authenticator } from '../../mail/login/logins.ts';
import { Throttle } from '../../mail/login/throttle.ts';
import { addBan, listBans, MAX_BANS } from '../../mail/store/limit/ban.ts';
import { StoredCredentials } from '../accounts/stored-credentials.ts';
import type { AgentMonitor } from '../core/agent-monitor.ts';

/** Milliseconds between two checks of the certificate's files. */
const CERTIFICATE_MS = 30_000;

/** Readers of untrusted content, and the monitor of the agents that read it. */
interface ContentServices {
  pdfs: PdfReader;
  texts: TextReader;
  agents: Agents;
}

/** Everything that the protocol servers share. */
export interface Services
  extends StartOptions, StorageServices, LoginServices, DnsServices, DeliveryServices, ContentServices {
  recentLog: RecentLog;
  /** Runs every periodic job. */
  scheduler: Scheduler;
  tls: ServedCertificates;
  dnsPublisher: DomainPublisher;
  /** Answers to challenges of a certificate authority. */
  challenges: ChallengeAnswers;
  lastUsed: LastUsed;
  /** DMARC results of received mail, for the reports to other domains. */
  dmarcResults: DmarcCounter;
  /** True for networks that limits do not count. */
  exempt: (ip: string) => boolean;
  local: boolean;
  /** Memory for bodies that are read and answers that wait for their readers. */
  memory: MemoryBudget;
  /** Returns the names of the readiness checks that fail now. */
  failing: () => string[];
}

/** Creates everything that needs no listener: store, keys, certificate, logins, queue. `stack` closes it. */
export async function createServices(options: StartOptions, stack: AsyncDisposableStack): Promise<Services> {
  const { settings, clock, log } = options;
  const storage = await createStorage(options, stack);
  const { store } = storage;
  if (options.steadyClock !== undefined) await restoreClock(store, options.steadyClock);
  const tls = new ServedCertificates(await openTls(options));
  tls.use(await loadCertificates(storage, settings.hostname));
  const scheduler = new Scheduler({ clock, log });
  stack.use(
    scheduler.add({
      name: 'certificate',
      everyMs: options.acmeTest?.everyMs ?? CERTIFICATE_MS,
      run: () => tls.check(),
    }),
  );
  const exempt = (ip: string): boolean => inNetworks(ip, settings.exemptNetworks);
  const local = !settings.live;
  const memory = new MemoryBudget(memoryShares(settings.memoryMb).clientOctets);
  const content = createContent(options, storage, memory, stack);
  const lastUsed = stack.use(new LastUsed(store));
  stack.use(scheduler.add(lastUsed));
  const { agents } = content;
  const dns = createDns(options);
  const login = await createLogin({ ...options, ...storage, exempt, local, agents, scheduler, lastUsed }, stack);
  return {
    ...options,
    recentLog: options.recentLog ?? new RecentLog(),
    ...storage,
    ...content,
    ...login,
    ...(await createDelivery(options, storage)),
    ...dns,
    dnsPublisher: openPublisher(options, storage, dns.lookNow),
    scheduler,
    tls,
    challenges: new ChallengeAnswers((change) =>
      store.nodes?.signal({ ...change, kind: 'challenge', open: Number(change.open) }),
    ),
    lastUsed,
    dmarcResults: stack.use(new DmarcCounter(store, clock)),
    exempt,
    local,
    memory,
    failing: () => failingParts(store),
  };
}

function createContent(
  { settings, clock, metrics, log }: StartOptions,
  { store, secrets }: StorageServices,
  memory: MemoryBudget,
  stack: AsyncDisposableStack,
): ContentServices {
  const { textHeapMb, documentMb } = memoryShares(settings.memoryMb);
  const pdfs = stack.use(new PdfReader(undefined, documentMb));
  const texts = stack.use(new TextReader({ log, heapMb: textHeapMb, memory }));
  const agents = new Agents({ store, clock, meter: metrics, log, secrets, pdfs, prefix: settings.tokenPrefix });
  return { pdfs, texts, agents };
}

async function openTls({ settings, log }: StartOptions): Promise<TlsSource> {
  const { tls, dataDir, hostname } = settings;
  const source = await createTlsSource({ certFile: tls?.certFile, keyFile: tls?.keyFile, dataDir, hostname, log });
  if ('problem' in source) throw new CannotStart(source.problem);
  return source;
}

interface DnsServices {
  resolver: Resolver;
  /** Addresses of its servers as Node writes them; none: the system's. */
  servers: readonly string[];
  /** Has no cache. */
  lookNow: Resolver;
  parents: QueryParents;
}

/** Creates the resolvers that the settings name. */
function createDns(options: StartOptions): DnsServices {
  const servers = (options.settings.resolvers ?? []).map(({ host, port }) =>
    host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
  );
  const lookNow = createResolver({ servers, cache: false, timeoutMs: 3000 });
  return { resolver: createResolver({ servers }), servers, lookNow, parents: openParents(options, lookNow) };
}

function openPublisher(options: StartOptions, storage: StorageServices, lookNow: Resolver): DomainPublisher {
  const transport = options.providerTransport ?? createProviderTransport({ resolver: lookNow });
  const wait = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });
  const { settings } = options;
  const dane = { store: storage.store, settings, secure: secureResolver(settings) };
  const tlsa = (): Promise<TlsaPublication> => tlsaToPublish(dane);
  return new DomainPublisher({ ...options, ...storage, lookNow, transport, sleep: wait, tlsa });
}

/** Asks other people's name servers directly, those at private addresses only where the settings allow it. */
function openParents({ settings, nameServerPort: port = 53 }: StartOptions, resolver: Resolver): QueryParents {
  return parentsOf({
    resolver,
    mayQuery: (ip) => isPublicAddress(ip) || mayReach(settings.allowPrivateNetworks, ip, port),
    query: (ip, domain) => queryNameServers({ ip, port }, domain),
  });
}

interface DeliveryServices {
  queue: StoreQueue;
  smarthosts: StoredSmarthosts;
  keys: SigningKeys;
  /** Key of the addresses that forwards are rewritten to, and of the mark against loops. */
  forwardKey: Buffer;
  /** Key of the senders under which single copies leave. */
  reportKey: KeyObject;
  /** Why mail for other hosts waits; null lets it go. */
  hold: string | null;
}

/** Creates the queue, the smarthosts and the keys of mail that leaves. */
async function createDelivery(
  { settings, clock }: StartOptions,
  { store, secrets }: StorageServices,
): Promise<DeliveryServices> {
  // Local mode sends nothing: a person releases what is for other hosts.
  const hold = settings.live ? null : 'local mode';
  return {
    queue: new StoreQueue({ store, hold, smarthost: settings.smarthost?.use, traceId }),
    smarthosts: new StoredSmarthosts(store, secrets, await openSmarthost(settings)),
    keys: new SigningKeys({ store, secrets }, clock),
    forwardKey: secrets.subkey('forwarding'),
    reportKey: createSecretKey(secrets.subkey('reports')),
    hold,
  };
}

async function openSmarthost(settings: Settings): Promise<Smarthost | undefined> {
  const smarthost = await boxSmarthost(settings);
  if (smarthost !== undefined && 'problem' in smarthost) throw new CannotStart(smarthost.problem);
  return smarthost;
}

interface LoginServices {
  logins: Authenticator;
  /** Failed logins, over whatever protocol. */
  throttle: Throttle;
  guard: Guard;
}

interface LoginOptions extends StartOptions, StorageServices {
  exempt: (ip: string) => boolean;
  local: boolean;
  agents: AgentMonitor;
  scheduler: Scheduler;
  lastUsed: LastUsed;
}

/** Creates what passwords are checked with: one for all protocols. */
async function createLogin(options: LoginOptions, stack: AsyncDisposableStack): Promise<LoginServices> {
  const { store, secrets, clock, log, metrics, exempt, local, agents, scheduler, settings, lastUsed } = options;
  const throttle = new Throttle();
  const guard = await openGuard(options);
  const credentials = stack.use(new StoredCredentials(store));
  stack.use(scheduler.add(credentials));
  const logins = createLogins({
    credentials,
    throttle,
    guard,
    clock,
    secret: secrets.subkey('login salt'),
    local,
    exempt,
    barred: (password) => agents.barredLogin(password),
    bearer: new TokenLogins({ settings, store, clock, lastUsed }),
    // Deleted passwords are announced by their commit, too: hearing it twice ends nothing more.
    announce: (what) => store.nodes?.signal({ kind: 'revoked', ...what }),
    log,
    meter: metrics,
  });
  return { logins, throttle, guard };
}

function failingParts(store: MailStore): string[] {
  const reason = store.unavailable()?.reason;
  if (reason === undefined) return [];
  return [reason === 'database' ? 'database' : 'disk'];
}

/** Opens the guard with the stored bans. Trusted proxies stand for everybody behind them and are never banned. */
async function openGuard({ settings, clock, log, metrics, store, exempt, local }: LoginOptions): Promise<Guard> {
  const guard = new Guard({
    clock,
    isExempt: (ip) => exempt(ip) || inNetworks(ip, settings.trustProxy) || (local && isLoopback(ip)),
    async saveBan(offender) {
      const ban = await store.write(addBan, offender);
      store.nodes?.signal({ kind: 'banned' });
      return ban;
    },
    announceLifted: (network) => store.nodes?.signal({ kind: 'lifted', network }),
    log,
    meter: metrics,
  });
  // Read here, before any listener is open: a scan would start the reader thread, which few boxes need.
  guard.restoreBans(await store.read(listBans, { after: 0, limit: MAX_BANS, now: clock() }));
  return guard;
}
