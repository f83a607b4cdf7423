import { ContinuousCopies } from '../backup/continuous-copies.ts';
import type { FilterClient } from '../../mail/filter/client.ts';
import type { Scheduler } from '../../mail/jobs/scheduler.ts';
import type { Relay } from '../../mail/relay/relay.ts';
import { resumeInterrupted } from '../../mail/store/queue/interrupted.ts';
import { version } from '../core/version.ts';
import { DigestReplies } from '../digest/digest-replies.ts';
import { startControlServer } from '../operator-socket/server.ts';
import { OutboundTls } from '../tls/outbound-tls.ts';
import { WebhookDispatcher } from '../webhooks/dispatcher.ts';
import { baseUrlOf, createAppContext, revoking, type RunningContext } from './app-context.ts';
import { createInboundFilter, openFilter } from './filter.ts';
import { backupContext, checkJobs, jobsOfEveryNode, jobsOfLeader, jobsPart, runJobs, upkeepJobs } from './jobs.ts';
import { Leadership } from './leadership.ts';
import { joinNodes } from './nodes.ts';
import type { StartOptions } from './options.ts';
import { type Listeners, openPorts } from './ports.ts';
import { openDns, openHttp, openImap, openReceiver } from './protocol-servers.ts';
import { openRamp } from './ramp.ts';
import { openRelay } from './relay.ts';
import { confirmWelcome, seed, type Seeded } from './seed.ts';
import { createServices, type Services } from './shared-parts.ts';

/** Pause before the attempts of an earlier leader are made again, ms: where it lost the database alone, it may still end some. */
const INTERRUPTED_MS = 45_000;

export interface Appliance extends AsyncDisposable {
  readonly listeners: Listeners;
  readonly seeded: Seeded;
  readonly selfSigned: boolean;
  /** {base_url}, without a slash at the end. */
  readonly baseUrl: string;
  /** Records that the welcome text with the first password and token was printed. */
  confirmWelcome(): Promise<void>;
}

/** Starts everything in order. Disposing of it stops everything in reverse, the protocol servers together. */
export async function startAppliance(options: StartOptions): Promise<Appliance> {
  await using stack = new AsyncDisposableStack();
  const services = await createServices(options, stack);
  const { store, secrets, log, settings, scheduler } = services;
  const seeded = await seed({ store, secrets, log }, settings);
  stack.use(joinNodes(services));
  // Resigns after all that it leads has stopped.
  const leadership = stack.use(new Leadership(store.nodes, log));
  stack.use(await leadership.add(jobsPart(scheduler, upkeepJobs(services))));
  stack.use(runJobs(scheduler, checkJobs(services)));

  // Closed after the relay, which needs the TLS policies of its last deliveries.
  const outboundTls = stack.use(new OutboundTls(services));
  // Closed after the protocol servers: messages whose last octets arrive while they close still need a verdict.
  const filter = stack.use(openFilter(services));
  // Ends after the protocol servers: what they accept last is copied, too.
  const copies = stack.use(new ContinuousCopies(backupContext(services)));
  const listeners: Listeners = {};
  const baseUrl = (): string => baseUrlOf(settings, listeners);
  const queued = (): void => services.queue.changed();
  const noticeReplies = new DigestReplies({ ...services, baseUrl, queued, revoked: revoking(services.logins) });
  const shared = { services, filter, noticeReplies, baseUrl };
  const context = await startServers({ ...shared, leadership, outboundTls, listeners }, stack);
  const dns = await openDns(services);
  stack.defer(async () => dns?.close());
  if (dns !== undefined) listeners.dns = dns.port;

  // Closed after the job that uses it.
  stack.use(context.backups);
  stack.use(runJobs(scheduler, jobsOfEveryNode(services, copies)));
  stack.use(await leadership.add(jobsPart(scheduler, jobsOfLeader({ ...shared, context, queued }))));
  stack.use(await leadership.add(async () => new WebhookDispatcher({ ...services, baseUrl, version: version() })));
  await startContext(context, scheduler, stack);
  stack.use(await startControlServer(settings.dataDir, context));
  await leadership.begin();

  const everything = stack.move();
  return {
    listeners,
    seeded,
    selfSigned: services.tls.selfSigned,
    baseUrl: baseUrl(),
    confirmWelcome: () => confirmWelcome(store),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** The parts that the protocol servers and the relay use; `listeners` receives their ports. */
interface ServerParts {
  services: Services;
  filter: FilterClient;
  noticeReplies: DigestReplies;
  outboundTls: OutboundTls;
  leadership: Leadership;
  baseUrl: () => string;
  listeners: Listeners;
}

/** Starts the protocol servers and, where this node leads, the relay. `stack` closes them all at the same time. */
async function startServers(parts: ServerParts, stack: AsyncDisposableStack): Promise<RunningContext> {
  const { services, filter, noticeReplies, outboundTls, leadership, baseUrl, listeners } = parts;
  const servers: { close(): Promise<void> }[] = [];
  stack.defer(() => closeAll(servers));
  const receiver = await openReceiver(services, createInboundFilter(filter, services), noticeReplies);
  servers.push(receiver);
  const imap = await openImap(services, baseUrl);
  servers.push(imap);

  const outbound: { relay?: Relay } = {};
  const context = createAppContext(services, listeners, () => outbound.relay?.refusedLogins() ?? []);
  const http = await openHttp(services, context);
  servers.push(http);
  const relaying = await leadership.add(async () => {
    const running = new AsyncDisposableStack();
    outbound.relay = await resumeRelay(services, outboundTls, receiver.addresses(), running);
    return running;
  });
  servers.push({ close: async () => relaying[Symbol.asyncDispose]() });
  Object.assign(listeners, openPorts(receiver.addresses(), imap.addresses(), http.addresses()));
  return context;
}

/** Opens the relay with the ramp and the attempts of the node that led before. `stack` closes it. */
async function resumeRelay(
  services: Services,
  outboundTls: OutboundTls,
  smtpListeners: readonly { service: string; port: number }[],
  stack: AsyncDisposableStack,
): Promise<Relay> {
  const { store, clock } = services;
  if (store.nodes !== undefined) await store.write(resumeInterrupted, { at: clock() + INTERRUPTED_MS });
  // Stored after the relay has ended.
  const ramp = await openRamp(services, stack);
  const relay = openRelay(services, outboundTls, ramp, smtpListeners);
  stack.defer(() => relay.close());
  return relay;
}

/** Starts the parts of the context that run. They close before the protocol servers, so that pending waits are answered. */
async function startContext(
  { waits, transfers, runner }: RunningContext,
  scheduler: Scheduler,
  stack: AsyncDisposableStack,
): Promise<void> {
  stack.use(waits);
  stack.use(transfers);
  stack.use(scheduler.add(transfers));
  stack.use(scheduler.add(transfers.retries));
  transfers.begin();
  stack.use(runner);
  await runner.begin();
}

/** Closes all at the same time: each waits for its peers, and one after the other would exceed the time of a stop. */
async function closeAll(servers: readonly { close(): Promise<void> }[]): Promise<void> {
  const results = await Promise.allSettled(servers.map((server) => server.close()));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
