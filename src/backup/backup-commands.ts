import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setPriority, constants } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { BackupProblem, reasonOf } from '../../mail/backup/backup-error.ts';
import type { BackupKeys } from '../../mail/backup/backup-keys.ts';
import { removeExpired } from '../../mail/backup/backup-retention.ts';
import type { BackupTarget } from '../../mail/backup/backup-target.ts';
import { type BackupReport, createBackup, type HeldSnapshot } from '../../mail/backup/create-backup.ts';
import { writeFlushed } from '../../mail/backup/flush-file.ts';
import { renewIds } from '../../mail/backup/renew-ids.ts';
import { Repository, type SnapshotManifest } from '../../mail/backup/repository.ts';
import { segmentsOf } from '../../mail/backup/log-segments.ts';
import { findSnapshot, momentOf, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { type BackupVerification, verifyBackup } from '../../mail/backup/verify-backup.ts';
import { version } from '../core/version.ts';
import { keysForBackup, keysForRestore, openBackupTarget } from './backup-access.ts';
import { recordVerification, verificationStatus } from './backup-verification.ts';
import { bucketOfDirectory } from './open-message-bucket.ts';

/** Result of the last backup, in the data directory: the server reads it for its metrics and alarms. */
export interface BackupStatus {
  target: string;
  /** Begin of the last backup. */
  at: number;
  ok: boolean;
  /** Reason of a failure. */
  problem: string | null;
  /** Time of the last snapshot that is complete; null: none. */
  lastGoodAt: number | null;
  seconds: number;
  addedOctets: number;
  failures: number;
}

export const STATUS_FILE = 'backup-status.json';

/** Result of `mailstead backup`. */
export interface BackupOutcome extends BackupReport {
  target: string;
  seconds: number;
  encrypted: boolean;
  /** Snapshots that were removed because of their age. */
  removed: number;
}

export interface BackupCommandOptions {
  settings: Settings;
  dataDir: string;
  target: string;
  held?: HeldSnapshot;
}

/** Backs up, removes expired snapshots, and records the result in the data directory. */
export async function runBackup({
  settings,
  dataDir,
  target: name,
  held,
}: BackupCommandOptions): Promise<BackupOutcome> {
  const began = Date.now();
  // Mail goes first: with all processors busy, a process of this priority gets a hundredth.
  if (held === undefined) setPriority(constants.priority.PRIORITY_LOW);
  const target = openBackupTarget(name, settings.backup);
  try {
    const keyFile = keyFileOf(settings, dataDir);
    const keys = await keysForBackup(settings.backup, keyFile);
    const report = await createBackup({
      dataDir,
      keyFile,
      target,
      bucket: await bucketOfDirectory(dataDir, settings, keyFile),
      keys,
      rate: settings.backup.rate,
      version: version(),
      clock: Date.now,
      held,
    });
    const repository = await Repository.openIndex(target, keys);
    const removed = await removeExpired(repository, settings.backup.keep, Date.now());
    const seconds = (Date.now() - began) / 1000;
    await recordStatus(dataDir, { target: target.label, at: began, seconds, done: report.snapshot });
    return { ...report, target: target.label, seconds, removed, encrypted: repository.envelope.encrypted };
  } catch (error) {
    const seconds = (Date.now() - began) / 1000;
    const problem = reasonOf(error);
    await recordStatus(dataDir, { target: target.label, at: began, seconds, problem }).catch(() => undefined);
    throw error;
  } finally {
    await target.close();
  }
}

/** The key file of the settings; that of another data directory is in it. */
export function keyFileOf({ keyFile, dataDir: usual }: Settings, dataDir: string): string {
  return keyFile === join(usual, 'secret.key') ? join(dataDir, 'secret.key') : keyFile;
}

interface BackupResult {
  target: string;
  at: number;
  seconds: number;
  done?: SnapshotManifest;
  problem?: string;
}

async function recordStatus(dataDir: string, { target, at, seconds, done, problem }: BackupResult): Promise<void> {
  const before = await readStatus(dataDir);
  const status: BackupStatus = {
    target,
    at,
    seconds,
    ok: done !== undefined,
    problem: problem ?? null,
    lastGoodAt: done?.at ?? before?.lastGoodAt ?? null,
    addedOctets: done?.added ?? 0,
    failures: done === undefined ? (before?.failures ?? 0) + 1 : 0,
  };
  await writeFlushed(join(dataDir, STATUS_FILE), Buffer.from(`${JSON.stringify(status)}\n`));
}

/** Result of the last backup; undefined: there was none. */
export async function readStatus(dataDir: string): Promise<BackupStatus | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, STATUS_FILE), 'utf8')) as BackupStatus;
  } catch {
    return undefined;
  }
}

export interface BackupListing {
  target: string;
  encrypted: boolean;
  /** `copiedUntil`: the end of its log; all moments until then can be restored. ms UTC, null: it has no log. */
  snapshots: (SnapshotManifest & { copiedUntil: number | null })[];
  /** Snapshots whose manifest is damaged. */
  damaged: string[];
}

/** `logs`: looks for the log of each snapshot, which is a request to the target each. */
export async function listBackups(
  name: string,
  settings: Settings,
  { logs = false, dataDir = settings.dataDir }: { logs?: boolean; dataDir?: string } = {},
): Promise<BackupListing> {
  return withIndex(name, settings, dataDir, async (repository) => {
    const { manifests, damaged } = await repository.readableManifests();
    const snapshots: BackupListing['snapshots'] = [];
    for (const one of manifests) {
      const last = logs ? (await segmentsOf(repository, one.id)).at(-1) : undefined;
      snapshots.push({ ...one, copiedUntil: last?.at ?? null });
    }
    return { target: repository.target.label, encrypted: repository.envelope.encrypted, snapshots, damaged };
  });
}

export async function verifyTarget(
  name: string,
  settings: Settings,
  { at, scratch }: { at: number | string | undefined; scratch: string },
): Promise<BackupVerification> {
  const done = await withRepository(name, settings, async (repository) =>
    verifyBackup(repository, await findSnapshot(repository, at), scratch),
  );
  const { dataDir, backup } = settings;
  // For the page and the alarms of the server. Another machine that verifies has no database.
  if (name === backup.target && existsSync(join(dataDir, 'mailstead.db')))
    await recordVerification(dataDir, verificationStatus(name, Date.now(), done));
  return done;
}

export interface RestoreOutcome {
  snapshot: SnapshotManifest;
  /** Time of the restored state, ms UTC. */
  at: number;
  directory: string;
  /** Messages and mailboxes in the restored directory. */
  messages: number;
  mailboxes: number;
  /** False: the key file was not in the backup. */
  keys: boolean;
  /** Messages that wait in the queue and will be sent by the restored server. */
  queued: number;
}

/** Restores a snapshot to a new data directory. */
export async function restoreDirectory(
  name: string,
  settings: Settings,
  { at, directory }: { at: number | string | undefined; directory: string },
): Promise<RestoreOutcome> {
  return withRepository(name, settings, async (repository) => {
    const found = await findSnapshot(repository, at);
    await restoreSnapshot(repository, found, directory, { prepare: (path) => renewIds(path, Date.now()) });
    const { segments: _, ...snapshot } = found;
    return { snapshot, at: momentOf(found), directory, keys: snapshot.keys, ...(await countsOf(directory)) };
  });
}

async function countsOf(directory: string): Promise<Pick<RestoreOutcome, 'messages' | 'mailboxes' | 'queued'>> {
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(join(directory, 'mailstead.db'));
  try {
    const counts = db.prepare(
      'SELECT (SELECT count(*) FROM email) AS messages, (SELECT count(*) FROM account) AS mailboxes, (SELECT count(*) FROM queue) AS queued',
    );
    const { messages, mailboxes, queued } = counts.get() ?? {};
    return { messages: Number(messages), mailboxes: Number(mailboxes), queued: Number(queued) };
  } finally {
    db.close();
  }
}

/** Opens the repository of a target for the time of `work`, which reads messages. */
export async function withRepository<T>(
  name: string,
  settings: Settings,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  return withTarget(name, settings, settings.dataDir, async (target, keys) =>
    work(await Repository.open(target, keys)),
  );
}

/** Opens the repository of a target for the time of `work`, which lists snapshots. */
export async function withIndex<T>(
  name: string,
  settings: Settings,
  dataDir: string,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  return withTarget(name, settings, dataDir, async (target, keys) => work(await Repository.openIndex(target, keys)));
}

async function withTarget<T>(
  name: string,
  settings: Settings,
  dataDir: string,
  work: (target: BackupTarget, keys: BackupKeys) => Promise<T>,
): Promise<T> {
  const target = openBackupTarget(name, settings.backup);
  try {
    return await work(target, await keysForRestore(settings.backup, keyFileOf(settings, dataDir)));
  } finally {
    await target.close();
  }
}

/** A time such as 2026-11-23T08:00Z, or the id of a snapshot. */
export function parseMoment(text: string): number | string {
  if (/^\d{8}t\d{9}z-[0-9a-f]{8}$/.test(text)) return text;
  const time = Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw new BackupProblem(`"${text}" is neither a time nor the id of a snapshot. Use 2026-11-23T08:00:00Z.`);
}
