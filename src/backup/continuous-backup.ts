import { setPriority, constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../../config/settings.ts';
import { BackupProblem, reasonOf } from '../../mail/backup/backup-error.ts';
import { type DatabaseSnapshot, SnapshotSource } from '../../mail/backup/database-snapshot.ts';
import { BackupFile } from '../../mail/backup/file-target.ts';
import { LogLost, LogShipper } from '../../mail/backup/log-shipper.ts';
import type { Repository } from '../../mail/backup/repository.ts';
import { FileLocator } from '../../mail/store/bucket/file-locator.ts';
import { keyFileOf, runBackup } from './backup-commands.ts';
import { openBackupTarget } from './backup-access.ts';
import { bucketOfDirectory } from './open-message-bucket.ts';

const DEFAULT_MS = 2_000;
const RETRY_MS = 10_000;
const DAY_MS = 24 * 3_600_000;
/** Waits for the log to be started anew: so many times this pause. */
const LOG_WAITS = 100;
const LOG_WAIT_MS = 50;

/** State of continuous copies, sent to the server that started this process. */
export interface ContinuousState {
  /** All that was committed before is in the target, ms UTC; null: nothing yet. */
  copiedUntil: number | null;
  /** Segments stored since the last snapshot. */
  segments: number;
  /** Reason why copies wait. */
  problem: string | null;
}

interface ContinuousOptions {
  settings: Settings;
  dataDir: string;
  target: string;
  stop: AbortSignal;
}

/**
 * Makes a snapshot, and stores what is committed after it every few seconds; from time to time, or when the target was
 * away for long, with a new snapshot. Ends when `stop` is aborted.
 */
export async function backUpContinuously(options: ContinuousOptions): Promise<ContinuousState> {
  const { settings, target: name, stop } = options;
  const target = openBackupTarget(name, settings.backup);
  if (target instanceof BackupFile) {
    await target.close();
    throw new BackupProblem('Continuous copies need a directory or s3://bucket/prefix. Name another target.');
  }
  // Below the server, but not as low as a backup: with all processors busy that one may wait for minutes.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const state: ContinuousState = { copiedUntil: null, segments: 0, problem: null };
  while (!stop.aborted) {
    try {
      await copyOneLog(options, state);
    } catch (error) {
      report(state, { problem: reasonOf(error) });
      await pause(RETRY_MS, stop);
    }
  }
  return state;
}

/** Makes a snapshot and stores segments after it, until another snapshot is due or its log is lost. */
async function copyOneLog(options: ContinuousOptions, state: ContinuousState): Promise<void> {
  const { settings, dataDir, stop } = options;
  using source = new SnapshotSource(join(dataDir, 'mailstead.db'));
  const end = Date.now() + Math.min(settings.backup.everyMs || DAY_MS, DAY_MS);
  {
    using shipper = await beginLog(options, source);
    for (let failures = 0; ;) {
      const isLast = stop.aborted;
      const problem = await problemOf(() => shipper.store());
      failures = problem === null ? 0 : failures + 1;
      report(state, { copiedUntil: shipper.at, segments: shipper.segments, problem });
      if (isLast || Date.now() >= end) return;
      if (problem === LOST) break;
      await pause(Math.min((settings.backup.continuousMs || DEFAULT_MS) * 2 ** Math.min(failures, 5), 30_000), stop);
    }
  }
  await logStartedAnew(source);
}

const LOST = 'The database changed faster than it could be copied: a new snapshot begins.';

/** A sentence about a failed attempt, which the next one repeats; null: it succeeded. */
async function problemOf(attempt: () => Promise<void>): Promise<string | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    return error instanceof LogLost ? LOST : reasonOf(error);
  }
}

async function beginLog({ settings, dataDir, target }: ContinuousOptions, source: SnapshotSource): Promise<LogShipper> {
  let kept: { state: DatabaseSnapshot; repository: Repository } | undefined;
  const bucket = await bucketOfDirectory(dataDir, settings, keyFileOf(settings, dataDir));
  const held = {
    source,
    keep: (state: DatabaseSnapshot, repository: Repository) => void (kept = { state, repository }),
  };
  try {
    const { snapshot } = await runBackup({ settings, dataDir, target, held });
    if (kept === undefined) throw new Error('the backup kept no snapshot');
    const { state, repository } = kept;
    const { id, at } = snapshot;
    const files = new FileLocator(dataDir, bucket);
    return new LogShipper({ repository, source, snapshot: { id, at, state }, files, clock: Date.now });
  } catch (error) {
    kept?.state[Symbol.dispose]();
    throw error;
  }
}

/** Waits until the writer could start the log anew, as nothing is held. */
async function logStartedAnew(source: SnapshotSource): Promise<void> {
  for (let wait = 0; wait < LOG_WAITS; wait++) {
    source.checkpoint();
    const log = source.log();
    if (log !== undefined && log.backfilled >= log.frames) return;
    await delay(LOG_WAIT_MS);
  }
}

function report(state: ContinuousState, change: Partial<ContinuousState>): void {
  Object.assign(state, change);
  if (process.connected) process.send?.(state);
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: stop }).catch(() => undefined);
}
