import type { BackupSettings } from '../../config/parse-backup.ts';
import type { Job } from '../../mail/jobs/scheduler.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { readStatus } from './backup-commands.ts';
import type { BackupRuns } from './backup-runs.ts';

const CHECK_MS = 60_000;
/** After a failed backup. */
const RETRY_MS = 10 * 60_000;
/** One line of the log for an old backup. */
const ALARM_EVERY_MS = 3_600_000;

interface BackupJobOptions {
  runs: Pick<BackupRuns, 'backUp'>;
  settings: BackupSettings;
  dataDir: string;
  clock: () => number;
  log: Log;
  meter: Meter;
}

/**
 * Backs up on schedule, and reports the age of the last good backup, also of one made by command. An age of two
 * intervals is an alarm.
 */
export class BackupJob implements Job {
  readonly name = 'backup';
  readonly everyMs = CHECK_MS;
  readonly firstMs = 5_000;
  readonly #options: BackupJobOptions;
  readonly #began: number;
  #alarmedAt = 0;

  constructor(options: BackupJobOptions) {
    this.#options = options;
    this.#began = options.clock();
  }

  async run(stop: AbortSignal): Promise<void> {
    const { settings, dataDir, clock, runs } = this.#options;
    const { target, everyMs, continuousMs } = settings;
    const status = await readStatus(dataDir);
    // Continuous copies make the snapshots themselves.
    if (target !== undefined && everyMs > 0 && continuousMs === 0 && this.#isDue(status, clock()))
      await runs.backUp(stop);
    await this.#report();
  }

  #isDue(status: Awaited<ReturnType<typeof readStatus>>, now: number): boolean {
    const { everyMs } = this.#options.settings;
    if (status === undefined || status.at > now) return true;
    return status.ok ? now - status.at >= everyMs : now - status.at >= Math.min(RETRY_MS, everyMs);
  }

  async #report(): Promise<void> {
    const { settings, dataDir, clock, log, meter } = this.#options;
    const status = await readStatus(dataDir);
    const now = clock();
    if (status !== undefined) {
      meter.gauge('backup_failures', status.failures);
      meter.gauge('backup_seconds', status.seconds);
      meter.gauge('backup_added_bytes', status.addedOctets);
    }
    const good = status?.lastGoodAt ?? undefined;
    if (good !== undefined) meter.gauge('backup_age_seconds', Math.max(0, (now - good) / 1000));
    const age = now - (good ?? this.#began);
    const scheduled = settings.target !== undefined && settings.everyMs > 0;
    if (!scheduled || age < 2 * settings.everyMs || now - this.#alarmedAt < ALARM_EVERY_MS) return;
    this.#alarmedAt = now;
    log.error(
      { target: settings.target, lastGoodAt: good === undefined ? null : new Date(good).toISOString() },
      'the last good backup is too old: run mailstead backup and read its error',
    );
  }
}
