import { X509Certificate } from 'node:crypto';
import type { ClockState } from '../../mail/jobs/steady-clock.ts';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

/** A scanner that the settings name. */
export interface ScannerState {
  name: string;
  /** Reason why it cannot be reached; undefined: it accepts connections. */
  problem: string | undefined;
}

/** Facts for the checks of the server itself; all times in ms UTC. */
export interface ServerFacts {
  now: number;
  /** Jump of the clock that is not confirmed. */
  clockState: ClockState;
  live: boolean;
  hostname: string;
  /** Names of failing readiness checks. */
  failing: readonly string[];
  /** Open listeners. */
  listeners: readonly string[];
  certificate: { pem: string; selfSigned: boolean; automatic: boolean; failing: readonly string[] };
  /** Octets of the data directory's file system. */
  disk: { free: number; total: number };
  queue: { due: number; held: number; oldest: number | undefined; next: number | undefined };
  refusedLogins: readonly { host: string; why: string }[];
  /** Stored messages that were found damaged since the start. */
  damaged: number;
  /** The bucket of large messages, with the reason of its last failure; null: they are files. */
  bucket: { label: string; problem: string | undefined } | null;
  backup: {
    target: boolean;
    everyMs: number;
    lastGoodAt: number | undefined;
    sealed: boolean;
    /** Reason of the last failure, if the last backup failed. */
    problem: string | undefined;
    /** Finding of the last verification. */
    damage: string | undefined;
  };
  /** Difference of this machine's clock to that of the certificate authority, ms; undefined: not compared. */
  skewMs: number | undefined;
  filter: { on: boolean; scanners: readonly ScannerState[] };
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const GIB = 1024 ** 3;

/** Checks the server itself, without the network. */
export function checkServer(facts: ServerFacts): HealthCheck[] {
  return [
    readiness(facts),
    listeners(facts),
    clock(facts),
    disk(facts),
    storage(facts),
    ...bucketOfMessages(facts),
    certificate(facts),
    queue(facts),
    smarthost(facts),
    backup(facts),
    spamFilter(facts),
  ];
}

function readiness({ failing }: ServerFacts): HealthCheck {
  if (failing.length === 0) return healthy('readiness', 'The store, the queue and the listeners work.');
  const fix = 'Read the log for the reason. If it does not end by itself, restart the server.';
  return unhealthy('readiness', 'failed', `These parts do not work: ${failing.join(', ')}.`, fix);
}

/** Without them mail neither arrives nor is read. */
const NEEDED = ['smtp', 'submissions', 'imaps', 'https'];

function listeners({ live, listeners: open }: ServerFacts): HealthCheck {
  const closed = NEEDED.filter((name) => !open.includes(name));
  if (closed.length === 0 || !live) return healthy('listeners', `Open: ${open.join(', ')}.`);
  const why = `These listeners are off: ${closed.join(', ')}.`;
  return unhealthy(
    'listeners',
    'warning',
    why,
    'Set their ports again, unless a proxy has them (MAILSTEAD_SMTP_PORT ...).',
  );
}

/** When this code was written: no clock is earlier. */
const EARLIEST = Date.UTC(2026, 10, 1);

const CLOCK_FIX = 'Set the clock and run a time service (timedatectl set-ntp true).';

function clock({ now, clockState, skewMs = 0, certificate: { pem } }: ServerFacts): HealthCheck {
  const made = new X509Certificate(pem).validFromDate.getTime();
  const said = `The clock says ${new Date(now).toISOString()}`;
  if (now < EARLIEST || now < made - HOUR)
    return unhealthy('clock', 'failed', `${said}, which is earlier than its own certificate or program.`, CLOCK_FIX);
  if (clockState.kind !== 'steady') return jumped(clockState, said);
  const minutes = Math.round(Math.abs(skewMs) / 60_000);
  if (minutes < 2) return healthy('clock', `${said}.`);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const why = `${said}, which is ${minutes} minutes ${side} the clock of the certificate authority.`;
  return unhealthy('clock', minutes < 10 ? 'warning' : 'failed', why, CLOCK_FIX);
}

/** A clock that is right needs no advice: after a day of running it is confirmed. */
function jumped({ kind, byMs, leftMs }: Exclude<ClockState, { kind: 'steady' }>, said: string): HealthCheck {
  const size = byMs < 2 * DAY ? `${Math.round(byMs / HOUR)} hours` : `${Math.round(byMs / DAY)} days`;
  const why =
    kind === 'ahead'
      ? `${said}, ${size} after the time that was expected. Nothing is purged, and scheduled mail may wait.`
      : `${said}: the system clock is ${size} behind, and is not followed. Nothing is purged.`;
  const left = Math.max(1, Math.ceil(leftMs / HOUR));
  return unhealthy('clock', 'failed', why, `${CLOCK_FIX} If it is right, it is confirmed in ${left} hours of running.`);
}

function disk({ disk: { free, total } }: ServerFacts): HealthCheck {
  const part = total === 0 ? 0 : free / total;
  const why = `${(free / GIB).toFixed(1)} GiB of ${(total / GIB).toFixed(1)} GiB are free on the disk of the data directory.`;
  const fix = 'Free space or add a disk: without space mail is refused with "try later", and nothing is lost.';
  if (free < GIB / 4 || part < 0.02) return unhealthy('disk', 'failed', why, fix);
  return free < 2 * GIB || part < 0.1 ? unhealthy('disk', 'warning', why, fix) : healthy('disk', why);
}

function storage({ damaged }: ServerFacts): HealthCheck {
  if (damaged === 0) return healthy('storage', 'No stored message was found damaged since the start.');
  const why = `${damaged === 1 ? '1 stored message was' : `${damaged} stored messages were`} found damaged since the start.`;
  return unhealthy('storage', 'failed', why, 'Run "mailstead fsck", which names them and the backup that has them.');
}

function bucketOfMessages({ bucket }: ServerFacts): HealthCheck[] {
  if (bucket === null) return [];
  const { label, problem } = bucket;
  if (problem === undefined) return [healthy('bucket', `Large messages are in ${label}, which answers.`)];
  const why = `Large messages are in ${label}, which fails: ${problem}. Mail over 64 KiB is deferred, and what is not cached cannot be read.`;
  return [unhealthy('bucket', 'failed', why, 'Check the service, MAILSTEAD_BLOBS_S3_ENDPOINT and the keys.')];
}

function certificate({ now, live, hostname, certificate: found }: ServerFacts): HealthCheck {
  const read = new X509Certificate(found.pem);
  const days = Math.floor((read.validToDate.getTime() - now) / DAY);
  const set = 'Set MAILSTEAD_ACME_EMAIL, or MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY.';
  if (!live) return healthy('certificate', 'Local mode uses a self-signed certificate.');
  if (found.selfSigned) return unhealthy('certificate', 'failed', 'The certificate is self-signed.', set);
  if (read.checkHost(hostname) === undefined)
    return unhealthy('certificate', 'failed', `The certificate is not for ${hostname}.`, set);
  if (days < 0) return unhealthy('certificate', 'failed', 'The certificate has expired.', LATE);
  if (found.failing.length > 0)
    return unhealthy('certificate', 'warning', `A renewal fails: ${found.failing.join('; ')}.`, LATE);
  if (days < 10) return unhealthy('certificate', 'warning', `The certificate expires in ${days} days.`, LATE);
  return healthy('certificate', `The certificate is for ${hostname} and valid for ${days} more days.`);
}

const LATE = 'Run "mailstead certificate list", which says why it is late; files are read again when they change.';

const QUEUE_FIX = 'Run "mailstead queue list", which has the answer of each receiver.';

function queue({ now, queue: { due, held, oldest, next } }: ServerFacts): HealthCheck {
  const hours = Math.floor((now - (oldest ?? now)) / HOUR);
  const why = `Messages that wait for delivery: ${due}, the oldest for ${hours} hours. Held: ${held}.`;
  if (next !== undefined && now - next > HOUR) {
    const late = `Messages have been due for more than an hour and were not tried. ${why}`;
    return unhealthy('queue', 'failed', late, 'Read the log for "failed to read the queue", and restart the server.');
  }
  return hours < 4 ? healthy('queue', why) : unhealthy('queue', 'warning', why, QUEUE_FIX);
}

function spamFilter({ live, filter: { on, scanners } }: ServerFacts): HealthCheck {
  const broken = scanners.filter(({ problem }) => problem !== undefined);
  if (!on) {
    const why = 'Spam checks are off: all mail goes to the inbox.';
    return unhealthy('spam filter', live ? 'warning' : 'off', why, 'Set MAILSTEAD_SPAM_CHECKS=on.');
  }
  if (broken.length === 0) {
    const names = scanners.map(({ name }) => name).join(' and ');
    return healthy('spam filter', `The filter is on${names === '' ? '' : `, with ${names}`}.`);
  }
  const why = broken.map(({ name, problem = '' }) => `${name} cannot be reached: ${problem}.`).join(' ');
  const fix = 'Start the scanner, or remove its setting: mail is accepted without it meanwhile.';
  return unhealthy('spam filter', 'failed', why, fix);
}

function smarthost({ refusedLogins }: ServerFacts): HealthCheck {
  const [first] = refusedLogins;
  if (first === undefined) return healthy('smarthost', 'No smarthost rejects its login.');
  const why = `The smarthost ${first.host} rejects the login: ${first.why}`;
  return unhealthy(
    'smarthost',
    'failed',
    why,
    'Correct the user name and password of the route (MAILSTEAD_SMARTHOST).',
  );
}

function backup(facts: ServerFacts): HealthCheck {
  const { now, backup: found } = facts;
  if (found.damage !== undefined) {
    const fix = 'Back up to a new target, verify it, and check the storage of the old one.';
    return unhealthy('backup', 'failed', `The last verification found: ${found.damage}`, fix);
  }
  if (found.lastGoodAt === undefined) return withoutBackup(facts);
  const age = now - found.lastGoodAt;
  const why = `The last good backup is ${Math.floor(age / HOUR)} hours old.`;
  const limit = found.target && found.everyMs > 0 ? 2 * found.everyMs : 2 * DAY;
  if (age > limit) return unhealthy('backup', 'failed', withProblem(why, found.problem), RUN_BACKUP);
  if (found.problem !== undefined) return unhealthy('backup', 'warning', withProblem(why, found.problem), RUN_BACKUP);
  if (found.sealed) return healthy('backup', why);
  const keys =
    'Set MAILSTEAD_BACKUP_RECIPIENT or MAILSTEAD_BACKUP_PASSPHRASE, or keep a copy of secret.key apart: the backup does not have it.';
  return unhealthy('backup', 'warning', `${why} It is not encrypted.`, keys);
}

const RUN_BACKUP = 'Run "mailstead backup TARGET" and read its error.';

function withoutBackup({ live, backup: { target, everyMs, problem } }: ServerFacts): HealthCheck {
  if (!live) return unhealthy('backup', 'off', 'No backup was made.', HOW_TO_BACK_UP);
  const why = 'No good backup was made by this server.';
  // Only a schedule that was tried and never worked is a fault.
  if (target && everyMs > 0 && problem !== undefined)
    return unhealthy('backup', 'failed', withProblem(why, problem), RUN_BACKUP);
  return unhealthy('backup', 'warning', why, HOW_TO_BACK_UP);
}

const HOW_TO_BACK_UP =
  'Set MAILSTEAD_BACKUP_TARGET and MAILSTEAD_BACKUP_PASSPHRASE or MAILSTEAD_BACKUP_RECIPIENT, or run "mailstead backup TARGET" on a schedule.';

function withProblem(why: string, problem: string | undefined): string {
  return problem === undefined ? why : `${why} The last attempt failed: ${problem}`;
}
