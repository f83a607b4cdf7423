import { X509Certificate } from 'node:crypto';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

/** Facts for the checks of the server itself; all times in ms UTC. */
export interface ServerFacts {
  now: number;
  live: boolean;
  hostname: string;
  /** Names of failing readiness checks. */
  failing: readonly string[];
  /** Open listeners. */
  listeners: readonly string[];
  certificate: { pem: string; selfSigned: boolean; automatic: boolean; failing: readonly string[] };
  /** Octets of the data directory's file system. */
  disk: { free: number; total: number };
  queue: { due: number; held: number; oldest: number | undefined };
  refusedLogins: readonly { host: string; why: string }[];
  /** Stored messages that were found damaged since the start. */
  damaged: number;
  /** The bucket of large messages, with the reason of its last failure; null: they are files. */
  bucket: { label: string; problem: string | undefined } | null;
  backup: { target: boolean; everyMs: number; lastGoodAt: number | undefined; sealed: boolean };
  settings: { bootstrapOpen: boolean; privateNetworks: boolean; dns: boolean };
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
    ...settings(facts),
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

function clock({ now, certificate: { pem } }: ServerFacts): HealthCheck {
  const made = new X509Certificate(pem).validFromDate.getTime();
  if (now >= EARLIEST && now >= made - HOUR) return healthy('clock', `The clock says ${new Date(now).toISOString()}.`);
  const why = `The clock says ${new Date(now).toISOString()}, which is earlier than its own certificate or program.`;
  return unhealthy('clock', 'failed', why, 'Set the clock and run a time service (timedatectl set-ntp true).');
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

function queue({ now, queue: { due, held, oldest } }: ServerFacts): HealthCheck {
  const age = oldest === undefined ? 0 : now - oldest;
  const hours = Math.floor(age / HOUR);
  const why = `Messages that wait for delivery: ${due}, the oldest for ${hours} hours. Held: ${held}.`;
  if (age < 4 * HOUR) return healthy('queue', why);
  return unhealthy('queue', 'warning', why, 'Run "mailstead queue list", which has the answer of each receiver.');
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

function backup({ now, live, backup: { target, everyMs, lastGoodAt, sealed } }: ServerFacts): HealthCheck {
  const how =
    'Set MAILSTEAD_BACKUP_TARGET and MAILSTEAD_BACKUP_PASSPHRASE, or run "mailstead backup TARGET" on a schedule.';
  if (lastGoodAt === undefined) {
    return live
      ? unhealthy('backup', 'warning', 'No good backup was made by this server.', how)
      : unhealthy('backup', 'off', 'No backup was made.', how);
  }
  const age = now - lastGoodAt;
  const why = `The last good backup is ${Math.floor(age / HOUR)} hours old.`;
  const limit = target && everyMs > 0 ? 2 * everyMs : 2 * DAY;
  if (age > limit) return unhealthy('backup', 'failed', why, 'Run "mailstead backup TARGET" and read its error.');
  if (sealed) return healthy('backup', why);
  const keys = 'Set MAILSTEAD_BACKUP_PASSPHRASE, or keep a copy of secret.key apart: the backup does not have it.';
  return unhealthy('backup', 'warning', `${why} It has no passphrase.`, keys);
}

function settings({ live, settings: { bootstrapOpen, privateNetworks, dns } }: ServerFacts): HealthCheck[] {
  if (!live) return [healthy('settings', 'Local mode: no mail leaves this machine until you release it.')];
  const found: HealthCheck[] = [];
  if (bootstrapOpen) {
    const why = 'Anybody on the internet may create an organization here and send mail.';
    found.push(unhealthy('settings: bootstrap', 'warning', why, 'Set MAILSTEAD_BOOTSTRAP=invite or off.'));
  }
  if (privateNetworks) {
    const why = 'Webhooks, forwards and imports may reach every private network of this machine.';
    const fix = 'Set MAILSTEAD_ALLOW_PRIVATE_NETWORKS to the hosts that are needed.';
    found.push(unhealthy('settings: private networks', 'warning', why, fix));
  }
  if (!dns) {
    const why = 'The embedded name server is off: DKIM keys are published by hand and do not rotate by themselves.';
    const fix = 'Set MAILSTEAD_DNS_PORT=53 and delegate dkim.HOSTNAME to this server (docs/operating.md).';
    found.push(unhealthy('settings: name server', 'off', why, fix));
  }
  return found.length > 0 ? found : [healthy('settings', 'The settings do not contradict each other.')];
}
