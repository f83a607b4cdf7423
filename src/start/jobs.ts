import { BackupJob } from '../backup/backup-job.ts';
import type { ContinuousCopies } from '../backup/continuous-copies.ts';
import type { FilterClient } from '../../mail/filter/client.ts';
import { ClaimExpiry } from '../../mail/jobs/claim-expiry.ts';
import { ClockCheck } from '../../mail/jobs/clock-check.ts';
import { RetentionJob } from '../../mail/jobs/retention.ts';
import { ScheduledMail } from '../../mail/jobs/scheduled-mail.ts';
import type { Job, Scheduler } from '../../mail/jobs/scheduler.ts';
import { ScrubJob } from '../../mail/jobs/scrub.ts';
import { SnoozeReturn } from '../../mail/jobs/snooze-return.ts';
import { StorageCheck } from '../../mail/jobs/storage-check.ts';
import { TrainingJob } from '../../mail/jobs/training.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { purgeProposals } from '../agents/proposal-commands.ts';
import { purgeDigests } from '../digest/commands.ts';
import type { DigestReplies } from '../digest/digest-replies.ts';
import { DnsSync } from '../dns-providers/sync.ts';
import { healthJob } from '../doctor/health-job.ts';
import { DomainRecheck } from '../domains/recheck.ts';
import { StsStart } from '../domains/sts-start.ts';
import { StsWalk } from '../domains/sts-walk.ts';
import { purgeServerHours } from '../history/commands.ts';
import { HistoryJob } from '../history/history-job.ts';
import { purgeDeletedMailboxes } from '../mailboxes/deletion-commands.ts';
import { purgeOAuth } from '../oauth/grant-commands.ts';
import { purgeDeletedOrganizations } from '../organizations/deletion-commands.ts';
import { purgeReports } from '../reports/commands.ts';
import { ReportReader } from '../reports/report-reader.ts';
import { ReportSender } from '../reports/report-sender.ts';
import { releaseResumed } from '../sending/pause-commands.ts';
import { purgeUploads } from '../sending/upload-commands.ts';
import { purgeDeletedServices } from '../services/deletion-commands.ts';
import { purgeNarrowTokens } from '../tokens/narrow-commands.ts';
import { purgeWebhookAttempts } from '../webhooks/commands.ts';
import type { RunningContext } from './app-context.ts';
import { openCertificates } from './certificates.ts';
import type { StartPart } from './leadership.ts';
import { openNotifier } from './notifier.ts';
import type { Services } from './shared-parts.ts';
import { openVacation } from './vacation.ts';

/** Purges of the appliance, which retention runs after those of the mail engine. */
const PURGES = [
  purgeDeletedMailboxes,
  purgeDeletedOrganizations,
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

/** Jobs of the leader that purge the store and verify its files. */
export function upkeepJobs({ store, clock, steadyClock, log }: Services): Job[] {
  return [new RetentionJob(store, clock, log, PURGES, steadyClock), new ScrubJob(store, clock, log)];
}

/** Jobs of every node that check its clock and its disk. */
export function checkJobs({ store, steadyClock, log }: Services): Job[] {
  return [...(steadyClock === undefined ? [] : [new ClockCheck(store, steadyClock, log)]), new StorageCheck(store)];
}

/** Jobs of every node that need the protocol servers. */
export function jobsOfEveryNode(services: Services, copies: ContinuousCopies): Job[] {
  const { settings, dmarcResults } = services;
  return [
    new HistoryJob(services),
    ...(settings.backup.continuousMs > 0 ? [copies] : []),
    ...(settings.sendReports ? [dmarcResults] : []),
  ];
}

/** The parts that jobs of the leader use. */
interface LeaderJobParts {
  services: Services;
  context: RunningContext;
  filter: FilterClient;
  noticeReplies: DigestReplies;
  baseUrl: () => string;
  queued: () => void;
}

/** Jobs that run once in a cluster and need the protocol servers. */
export function jobsOfLeader(parts: LeaderJobParts): Job[] {
  const { services, context, filter, noticeReplies, baseUrl, queued } = parts;
  const { store, log, settings, clock, tls, dnsPublisher } = services;
  return [
    new DomainRecheck(services),
    ...(settings.live ? [healthJob(context)] : []),
    new DnsSync({ ...services, publisher: dnsPublisher }),
    ...openCertificates(services),
    new ScheduledMail({ ...services, hostname: settings.hostname, noticeReplies, traceId, queued }),
    new ClaimExpiry(store, clock),
    new SnoozeReturn(store, clock),
    openVacation(context),
    new BackupJob({ ...backupContext(services), runs: context.backups }),
    new ReportReader(services),
    ...(settings.sendReports ? [new ReportSender({ ...services, queued })] : []),
    new StsStart(services),
    new StsWalk({ ...services, selfSigned: () => tls.selfSigned }),
    new TrainingJob({ store, log, wordsOf: (source) => filter.words(source) }),
    ...openNotifier(services, baseUrl).jobs(),
  ];
}

/** The services in the form that backups take. */
export function backupContext(services: Services) {
  const { settings, metrics } = services;
  return { ...services, settings: settings.backup, dataDir: settings.dataDir, meter: metrics };
}

/** Schedules jobs; the result stops them. */
export function runJobs(scheduler: Scheduler, jobs: readonly Job[]): AsyncDisposableStack {
  const running = new AsyncDisposableStack();
  for (const job of jobs) running.use(scheduler.add(job));
  return running;
}

/** The part of the leader that runs `jobs`. */
export function jobsPart(scheduler: Scheduler, jobs: readonly Job[]): StartPart {
  return async () => runJobs(scheduler, jobs);
}
