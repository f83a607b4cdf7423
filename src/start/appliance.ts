import { BackupJob } from '../backup/backup-job.ts';
import { ContinuousCopies } from '../backup/continuous-copies.ts';
import { ClaimExpiry } from '../../mail/jobs/claim-expiry.ts';
import { SnoozeReturn } from '../../mail/jobs/snooze-return.ts';
import { ClockCheck } from '../../mail/jobs/clock-check.ts';
import { RetentionJob } from '../../mail/jobs/retention.ts';
import { ScrubJob } from '../../mail/jobs/scrub.ts';
import { StorageCheck } from '../../mail/jobs/storage-check.ts';
import type { Job } from '../../mail/jobs/scheduler.ts';
import { ScheduledMail } from '../../mail/jobs/scheduled-mail.ts';
import { TrainingJob } from '../../mail/jobs/training.ts';
import type { Relay } from '../../mail/relay/relay.ts';
import { resumeInterrupted } from '../../mail/store/queue/interrupted.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { purgeProposals } from '../agents/proposal-commands.ts';
import { purgeDeletedMailboxes } from '../mailboxes/deletion-commands.ts';
import { purgeDeletedServices } from '../services/deletion-commands.ts';
import { startControlServer } from '../operator-socket/server.ts';
import { purgeDigests } from '../digest/commands.ts';
import { DigestReplies } from '../digest/digest-replies.ts';
import { healthJob } from '../doctor/health-job.ts';
import { DnsSync } from '../dns-providers/sync.ts';
import { DomainRecheck } from '../domains/recheck.ts';
import { StsStart } from '../domains/sts-start.ts';
import { StsWalk } from '../domains/sts-walk.ts';
import { purgeServerHours } from '../history/commands.ts';
import { HistoryJob } from '../history/history-job.ts';
import { OutboundTls } from '../tls/outbound-tls.ts';
import { purgeOAuth } from '../oauth/grant-commands.ts';
import { purgeReports } from '../reports/commands.ts';
import { ReportSender } from '../reports/report-sender.ts';
import { ReportReader } from '../reports/report-reader.ts';
import { confirmWelcome, seed, type Seeded } from './seed.ts';
import { releaseResumed } from '../sending/pause-commands.ts';
import { purgeUploads } from '../sending/upload-commands.ts';
import { openDns, openHttp, openImap, openReceiver } from './protocol-servers.ts';
import { createServices } from './shared-parts.ts';
import { openCertificates } from './certificates.ts';
import { createInboundFilter, openFilter } from './filter.ts';
import { type Listeners, openPorts } from './ports.ts';
import { openNotifier } from './notifier.ts';
import { openRamp } from './ramp.ts';
import { Leadership, type StartPart } from './leadership.ts';
import { joinNodes } from './nodes.ts';
import { openRelay } from './relay.ts';
import { openVacation } from './vacation.ts';
import type { StartOptions } from './options.ts';
import { baseUrlOf, revoking, createAppContext } from './app-context.ts';
import { purgeNarrowTokens } from '../tokens/narrow-commands.ts';
import { version } from '../core/version.ts';
import { purgeWebhookAttempts } from '../webhooks/commands.ts';
import { WebhookDispatcher } from '../webhooks/dispatcher.ts';

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
  const { store, secrets, log, settings, scheduler, clock, steadyClock } = services;
  const queued = (): void => services.queue.changed();
  const seeded = await seed({ store, secrets, log }, settings);
  const purges = [
    purgeDeletedMailboxes,
    purgeDeletedServices,
    purgeDigests,
    purgeNarrowTokens,
    purgeOAuth,
    purgeProposals,
    purgeReports,
    purgeServerHours,
    purgeUploads,
    purgeWebhookAttempts,
    releaseResumed,
  ];
  stack.use(joinNodes(services));
  // Resigns after all that it leads has stopped.
  const leadership = stack.use(new Leadership(store.nodes, log));
  const jobsOfLeader =
    (jobs: readonly Job[]): StartPart =>
    async () => {
      const running = new AsyncDisposableStack();
      for (const job of jobs) running.use(scheduler.add(job));
      return running;
    };
  const upkeep = [new RetentionJob(store, clock, log, purges, steadyClock), new ScrubJob(store, clock, log)];
  stack.use(await leadership.add(jobsOfLeader(upkeep)));
  if (steadyClock !== undefined) stack.use(scheduler.add(new ClockCheck(store, steadyClock, log)));
  stack.use(scheduler.add(new StorageCheck(store)));

  // Closed after the relay, which needs the TLS policies of its last deliveries.
  const outboundTls = stack.use(new OutboundTls(services));
  // Closed after the protocol servers: messages whose last octets arrive while they close still need a verdict.
  const filter = stack.use(openFilter(services));
  const backup = { ...services, settings: settings.backup, dataDir: settings.dataDir, meter: services.metrics };
  // Ends after the protocol servers: what they accept last is copied, too.
  const copies = stack.use(new ContinuousCopies(backup));
  const servers: { close(): Promise<void> }[] = [];
  stack.defer(() => closeAll(servers));
  const listeners: Listeners = {};
  const baseUrl = (): string => baseUrlOf(settings, listeners);
  const noticeReplies = new DigestReplies({ ...services, baseUrl, queued, revoked: revoking(services.logins) });
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
    if (store.nodes !== undefined) await store.write(resumeInterrupted, { at: clock() + INTERRUPTED_MS });
    // Stored after the relay has ended.
    const ramp = await openRamp(services, running);
    const relay = openRelay(services, outboundTls, ramp, receiver.addresses());
    running.defer(() => relay.close());
    outbound.relay = relay;
    return running;
  });
  servers.push({ close: async () => relaying[Symbol.asyncDispose]() });
  const dns = await openDns(services);
  stack.defer(async () => dns?.close());
  // Closed after the job that uses it.
  const runs = stack.use(context.backups);
  const everywhere = [
    new HistoryJob(services),
    ...(settings.backup.continuousMs > 0 ? [copies] : []),
    ...(settings.sendReports ? [services.dmarcResults] : []),
  ];
  for (const job of everywhere) stack.use(scheduler.add(job));
  const once = [
    new DomainRecheck(services),
    ...(settings.live ? [healthJob(context)] : []),
    new DnsSync({ ...services, publisher: services.dnsPublisher }),
    ...openCertificates(services),
    new ScheduledMail({ ...services, hostname: settings.hostname, noticeReplies, traceId, queued }),
    new ClaimExpiry(store, clock),
    new SnoozeReturn(store, clock),
    openVacation(context),
    new BackupJob({ ...backup, runs }),
    new ReportReader(services),
    ...(settings.sendReports ? [new ReportSender({ ...services, queued })] : []),
    new StsStart(services),
    new StsWalk({ ...services, selfSigned: () => services.tls.selfSigned }),
    new TrainingJob({ store, log, wordsOf: (source) => filter.words(source) }),
    ...openNotifier(services, baseUrl).jobs(),
  ];
  stack.use(await leadership.add(jobsOfLeader(once)));
  if (dns !== undefined) listeners.dns = dns.port;
  Object.assign(listeners, openPorts(receiver.addresses(), imap.addresses(), http.addresses()));
  stack.use(await leadership.add(async () => new WebhookDispatcher({ ...services, baseUrl, version: version() })));
  // Closed before the protocol servers, so that pending waits are answered.
  stack.use(context.waits);
  stack.use(context.transfers);
  stack.use(scheduler.add(context.transfers));
  context.transfers.begin();
  stack.use(context.runner);
  await context.runner.begin();
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

/** Closes all at the same time: each waits for its peers, and one after the other would exceed the time of a stop. */
async function closeAll(servers: readonly { close(): Promise<void> }[]): Promise<void> {
  const results = await Promise.allSettled(servers.map((server) => server.close()));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
