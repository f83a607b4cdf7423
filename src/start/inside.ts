import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { isPublicAddress } from '../../mail/dns/public-address.ts';
import { createResolver } from '../../mail/dns/resolver.ts';
import type { Guard } from '../../mail/guard/guard.ts';
import { createLogins, type LoginDesk } from '../../mail/login/logins.ts';
import { Throttle } from '../../mail/login/throttle.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import type { Smarthost } from '../../mail/relay/smarthosts.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { Agents } from '../agents/agents.ts';
import { StoredCredentials } from '../credentials.ts';
import { askServer } from '../dns/ask.ts';
import { SigningKeys } from '../domains/domains.ts';
import { type AskParents, parentsOf } from '../domains/parents.ts';
import { inNetworks, mayReach } from '../networks.ts';
import { TextReader } from '../reading/apart/text-reader.ts';
import { PdfReader } from '../reading/pdf/read-pdf.ts';
import { boxSmarthost, StoredSmarthosts } from '../routes/smarthosts.ts';
import { createTlsSource, type TlsSource } from '../tls/context.ts';
import { LastUsed } from '../tokens/last-used.ts';
import { openGuard } from './guard.ts';
import { openSecrets, openStore } from './store.ts';
import { CannotStart, type Surroundings } from './surroundings.ts';

/** What the doors share. */
export interface Inside extends Surroundings {
  store: MailStore;
  secrets: SecretBox;
  tls: TlsSource;
  logins: LoginDesk;
  /** Failed logins, at whatever door. */
  throttle: Throttle;
  guard: Guard;
  queue: StoreQueue;
  smarthosts: StoredSmarthosts;
  keys: SigningKeys;
  /** Of the addresses that forwards are rewritten to, and of the mark against loops. */
  forwardKey: Buffer;
  /** Of the senders under which single copies leave. */
  reportKey: KeyObject;
  resolver: Resolver;
  /** Its servers as Node writes them; none: the system's. */
  servers: readonly string[];
  /** Remembers nothing. */
  lookNow: Resolver;
  parents: AskParents;
  lastUsed: LastUsed;
  pdfs: PdfReader;
  texts: TextReader;
  /** Who of those that read and send is an agent. */
  agents: Agents;
  /** Networks that limits do not count. */
  exempt: (ip: string) => boolean;
  /** Why mail for elsewhere waits; null lets it go. */
  hold: string | null;
  local: boolean;
  /** Names of the readiness checks that fail now. */
  failing: () => string[];
}

/** Everything that has no door: store, keys, certificate, logins, queue. */
export async function furnish(around: Surroundings, stack: AsyncDisposableStack): Promise<Inside> {
  const { settings, log, metrics, clock } = around;
  const store = stack.use(await openStore(around));
  const secrets = await openSecrets(settings, store);
  const tls = await openTls(around);
  stack.defer(() => tls.close());
  const exempt = (ip: string): boolean => inNetworks(ip, settings.exemptNetworks);
  const local = !settings.live;
  const throttle = new Throttle();
  const guard = await openGuard(around, store, exempt);
  const pdfs = stack.use(new PdfReader());
  const texts = stack.use(new TextReader({ log }));
  const agents = new Agents({ store, clock, meter: metrics, log, secrets, pdfs, prefix: settings.tokenPrefix });
  const logins = createLogins({
    credentials: stack.use(new StoredCredentials(store)),
    throttle,
    guard,
    clock,
    secret: secrets.subkey('login salt'),
    local,
    exempt,
    barred: (password) => agents.barredLogin(password),
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
    throttle,
    guard,
    queue,
    smarthosts,
    keys,
    forwardKey: secrets.subkey('forwarding'),
    reportKey: createSecretKey(secrets.subkey('reports')),
    resolver,
    servers,
    lookNow,
    parents,
    lastUsed,
    pdfs,
    texts,
    agents,
    exempt,
    hold,
    local,
    failing,
  };
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

/** Asks other people's name servers directly, those at private addresses only where the settings allow it. */
function openParents({ settings, nameServerPort: port = 53 }: Surroundings, resolver: Resolver): AskParents {
  return parentsOf({
    resolver,
    mayAsk: (ip) => isPublicAddress(ip) || mayReach(settings.allowPrivateNetworks, ip, port),
    ask: (ip, domain) => askServer({ ip, port }, domain),
  });
}
