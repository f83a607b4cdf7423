import { readHealthGauges } from '../doctor/health-job.ts';
import type { NoticeReplies } from '../../mail/delivery/notice-replies.ts';
import type { Login } from '../../mail/login/types.ts';
import { startImap } from '../../mail/imap/server.ts';
import { SharingStore } from '../../mail/imap/sharing-store.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { Greylist } from '../../mail/receiver/greylist.ts';
import { systemClock } from '../../mail/receiver/options.ts';
import { startSmtpServer } from '../../mail/receiver/server.ts';
import { inboundRecorder } from '../doctor/inbound-evidence.ts';
import { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import { countDeleted } from '../mailboxes/deletion-queries.ts';
import { queueDepth } from '../../mail/store/queue/queue-rows.ts';
import { type DnsServer, startDns } from '../name-server/server.ts';
import { failedOrders } from '../certificates/queries.ts';
import { withChallengeTexts } from '../name-server/challenge-texts.ts';
import { boxZones, zoneServer } from '../domains/zones.ts';
import { ZoneSigner } from '../name-server/dnssec/zone-signer.ts';
import { startHttpServer, type HttpListener } from '../http/server.ts';
import type { InboundFilter } from '../../mail/receiver/context.ts';
import { inNetworks } from '../core/networks.ts';
import type { AppContext } from '../core/app-context.ts';
import { StoredReports } from '../reports/inbox.ts';
import { submitterLimits } from '../sending/allowance.ts';
import { AccountTenants } from '../sending/account-tenants.ts';
import type { Services } from './shared-parts.ts';
import type { FastifyInstance } from 'fastify';
import { clientSetupRoutes } from '../http/routes/client-setup.ts';
import { bootstrapRoutes } from '../http/routes/bootstrap.ts';
import { eventRoutes } from '../http/routes/events.ts';
import { jmapRoutes } from '../jmap/routes.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { oauthRoutes } from '../oauth/routes.ts';
import { portalRoutes } from '../portal/routes.ts';
import { firstReads } from '../webmail/first-reads.ts';
import { webMailRoutes } from '../webmail/routes.ts';
import { sendRoutes } from '../http/routes/sending.ts';
import { serviceRoutes } from '../http/routes/services.ts';
import { unsubscribeRoutes } from '../portal/unsubscribe-routes.ts';
import { webhookRoutes } from '../http/routes/webhooks.ts';
import { discoveryRoutes } from '../http/discovery.ts';
import { toolRoutes } from '../http/tools.ts';
import { X509Certificate } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import type { Settings } from '../../config/settings.ts';
import type { ImapListener } from '../../mail/imap/options.ts';
import type { SmtpListener } from '../../mail/receiver/options.ts';

/** SMTP: mail that arrives, and mail that is handed in. */
export function openReceiver(
  {
    settings,
    store,
    forwardKey,
    reportKey,
    hold,
    dmarcResults,
    agents,
    queue,
    logins,
    guard,
    tls,
    exempt,
    local,
    memory,
    log,
    metrics,
    clock,
    steadyClock,
  }: Services,
  filter: InboundFilter | null,
  answers: NoticeReplies,
) {
  const tenants = new AccountTenants(store);
  const backend = new StoreReceiverBackend({
    store,
    hostname: settings.hostname,
    hold,
    forwardKey,
    reportKey,
    ...(settings.greylist && { greylist: new Greylist(store, clock) }),
    filter,
    noticeReplies: answers,
    reports: new StoredReports({ store, metrics }),
    ...(settings.sendReports && { dmarcResults }),
    memory,
    log,
    meter: metrics,
    senderOf: (account) => submitterLimits({ store, tenants }, settings, account),
    policy: agents.policy,
    queued: () => queue.changed(),
    clock,
  });
  return startSmtpServer({
    hostname: settings.hostname,
    listeners: smtpListeners(settings),
    backend,
    ...(steadyClock !== undefined && { clock: { ...systemClock, now: clock } }),
    logins,
    guard,
    secureContext: (name) => tls.secureContext(name),
    exempt,
    connected: inboundRecorder({ store, clock, log }),
    local,
    maxMessageBytes: settings.maxMessageBytes,
    log,
    meter: metrics,
  });
}

/** A token has the mailboxes of its account alone: those that others share with it may be beyond its limits. */
function openMailStore(
  login: Login,
  { store, agents, clock }: Pick<Services, 'store' | 'agents' | 'clock'>,
): StoreBackend {
  const by = login.token === undefined ? login : { token: login.token.id };
  const hooks = {
    onRead: (event: Parameters<typeof agents.onRead>[1]) => agents.onRead(by, event, 'imap'),
    onWords: (event: Parameters<typeof agents.onWords>[1]) => agents.onWords(by, event),
  };
  if (login.token !== undefined) return new StoreBackend(store, login.account, clock, hooks);
  return new SharingStore(store, login.account, clock, { actor: { credential: login.credential }, ...hooks });
}

/** IMAP, over the store. */
export function openImap(
  { settings, store, logins, guard, agents, tls, exempt, local, log, metrics, clock, imapLimits, memory }: Services,
  baseUrl: () => string,
) {
  return startImap({
    hostname: settings.hostname,
    listeners: imapListeners(settings),
    logins,
    guard,
    open: (login) => openMailStore(login, { store, agents, clock }),
    limits: { messageBytes: settings.maxMessageBytes, ...imapLimits },
    uidOnly: settings.imapUidOnly,
    jmapUrl: () => `${baseUrl()}/.well-known/jmap`,
    memory,
    secureContext: (name) => tls.secureContext(name),
    exempt,
    local,
    log,
    meter: metrics,
  });
}

/** Everything that speaks HTTP, with the figures of the queue for who scrapes them. */
export function openHttp(
  { settings, store, guard, tls, challenges, failing, metrics, log, clock, memory }: Services,
  world: AppContext,
) {
  metrics.onScrape(async () => {
    const depth = await store.scan(queueDepth, undefined);
    metrics.gauge('queue_rows', depth.due, { state: 'due' });
    metrics.gauge('queue_rows', depth.held, { state: 'held' });
    await readHealthGauges({ store, clock }, (name, value, labels) => metrics.gauge(name, value, labels));
    const deleted = await store.read(countDeleted, undefined);
    metrics.gauge('deleted_items', deleted.mailboxes, { kind: 'mailbox' });
    metrics.gauge('deleted_items', deleted.services, { kind: 'service' });
    metrics.gauge('certificates_failing', (await store.read(failedOrders, undefined)).length);
    const ends = [tls.pair, ...tls.issuedPairs].map(({ cert }) => Date.parse(new X509Certificate(cert).validTo));
    metrics.gauge('certificate_expires_seconds', (Math.min(...ends) - clock()) / 1000);
    metrics.gauge('queue_oldest_seconds', depth.oldest === undefined ? 0 : (clock() - depth.oldest) / 1000);
  });
  return startHttpServer({
    listeners: httpListeners(settings),
    secureContext: (name) => tls.secureContext(name),
    certificate: { current: () => tls.currentPems, onChange: (listener) => tls.onChange(listener) },
    challenges,
    failing,
    node: () => store.nodes && { name: store.nodes.name, leads: store.nodes.leads },
    degraded: () => (store.files.remote?.state.problem === undefined ? [] : ['bucket']),
    guard,
    clock,
    metrics,
    log,
    memory,
    ...(settings.live && { baseUrl: world.baseUrl }),
    trusted: (ip) => inNetworks(ip, settings.trustProxy),
    endpoints: httpEndpoints(world),
  });
}

/** The name server, where the settings ask for it: the keys of every domain, and the domains that are led here. */
export function openDns({
  settings,
  store,
  secrets,
  clock,
  resolver,
  challenges,
  metrics,
  log,
}: Services): Promise<DnsServer> | undefined {
  const hosts = dnsHosts(settings);
  const { dns: port } = settings.ports;
  if (port === undefined) return undefined;
  const find = withChallengeTexts(boxZones(store, resolver, zoneServer(settings)), challenges);
  const signer = new ZoneSigner({ derive: (purpose) => secrets.subkey(purpose), clock });
  return startDns({ hosts, port, find, signer, log, meter: metrics });
}

type HttpEndpoint = (app: FastifyInstance) => void | Promise<void>;

/** All HTTP endpoints, each in its own Fastify context. */
export function httpEndpoints(context: AppContext): readonly HttpEndpoint[] {
  return [
    sendRoutes(context),
    webhookRoutes(context),
    unsubscribeRoutes(context),
    toolRoutes(context),
    eventRoutes(context),
    bootstrapRoutes(context),
    serviceRoutes(context),
    mcpRoutes(context),
    jmapRoutes(context, firstReads(context)),
    oauthRoutes(context),
    portalRoutes(context),
    webMailRoutes(context),
    clientSetupRoutes(context),
    discoveryRoutes(context),
  ];
}

/** Combines every address of MAILSTEAD_LISTEN with every port that is not off. */
function onAllAddresses<T>(
  settings: Settings,
  ports: readonly [number | undefined, T][],
): (T & { host: string; port: number })[] {
  return reachable(settings.listen).flatMap((host) =>
    ports.flatMap(([port, listener]) => (port === undefined ? [] : [{ ...listener, host, port }])),
  );
}

/** Omits `::`, a default of live mode, on machines without IPv6. */
function reachable(addresses: readonly string[]): readonly string[] {
  const ipv6 = Object.values(networkInterfaces()).some((list) => list?.some((one) => one.family === 'IPv6'));
  return ipv6 || addresses.length === 1 ? addresses : addresses.filter((address) => address !== '::');
}

function smtpListeners(settings: Settings): SmtpListener[] {
  const { smtp, submission, submissions } = settings.ports;
  return onAllAddresses<Pick<SmtpListener, 'service' | 'tls'>>(settings, [
    [smtp, { service: 'mx', tls: 'starttls' }],
    [submission, { service: 'submission', tls: 'starttls' }],
    [submissions, { service: 'submission', tls: 'implicit' }],
  ]);
}

function imapListeners(settings: Settings): ImapListener[] {
  return onAllAddresses<Pick<ImapListener, 'tls'>>(settings, [
    [settings.ports.imap, { tls: 'starttls' }],
    [settings.ports.imaps, { tls: 'implicit' }],
  ]);
}

/** Listen addresses of the name server. */
function dnsHosts(settings: Settings): readonly string[] {
  return reachable(settings.listen);
}

function httpListeners(settings: Settings): HttpListener[] {
  return onAllAddresses<Pick<HttpListener, 'tls'>>(settings, [
    [settings.ports.http, { tls: false }],
    [settings.ports.https, { tls: true }],
  ]);
}
