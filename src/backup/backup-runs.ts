import type { Settings } from '../../config/settings.ts';
import type { Log } from '../../mail/log.ts';
import type { BackupTask, ServerBackups } from '../core/server-backups.ts';
import type { BackupOutcome } from './backup-commands.ts';
import { type CommandResult, runBackupCommand } from './backup-runner.ts';
import { recordVerification, type VerificationStatus } from './backup-verification.ts';

interface BackupRunsOptions {
  settings: Pick<Settings, 'backup' | 'dataDir'>;
  clock: () => number;
  log: Log;
  /** Runs a command for backups. */
  command?: typeof runBackupCommand;
}

/** Result of a backup; undefined: it did not run, because another task does. */
export type BackupRun = { ok: true; outcome: BackupOutcome } | { ok: false; message: string } | undefined;

/** Backs up to the target of the settings and verifies it: on schedule and on demand, one task at a time. */
export class BackupRuns implements ServerBackups, AsyncDisposable {
  readonly #options: BackupRunsOptions;
  readonly #stop = new AbortController();
  #running: { task: BackupTask; since: number; done: Promise<unknown> } | undefined;

  constructor(options: BackupRunsOptions) {
    this.#options = options;
  }

  get running(): ServerBackups['running'] {
    if (this.#running === undefined) return undefined;
    const { task, since } = this.#running;
    return { task, since };
  }

  start(task: BackupTask): boolean {
    if (this.#running !== undefined) return false;
    void (task === 'backup' ? this.backUp() : this.#begin(task, () => this.#verify()));
    return true;
  }

  /** Backs up, logs the result, and returns it. */
  async backUp(stop?: AbortSignal): Promise<BackupRun> {
    const { target } = this.#options.settings.backup;
    if (target === undefined || this.#running !== undefined) return undefined;
    return this.#begin('backup', () => this.#create(target, stop));
  }

  async #begin<T>(task: BackupTask, work: () => Promise<T>): Promise<T> {
    const done = work();
    this.#running = { task, since: this.#options.clock(), done };
    try {
      return await done;
    } finally {
      this.#running = undefined;
    }
  }

  async #create(target: string, stop?: AbortSignal): Promise<NonNullable<BackupRun>> {
    const { settings, log } = this.#options;
    const result = await this.#command(['backup', target, '--data-dir', settings.dataDir], stop);
    if (result.ok) {
      const outcome = result.value as BackupOutcome;
      log.info(summary(outcome), 'backup made');
      return { ok: true, outcome };
    }
    if (!this.#stopped(stop)) log.error({ target, reason: result.message }, 'failed to back up, will retry');
    return result;
  }

  async #verify(): Promise<void> {
    const { settings, clock, log } = this.#options;
    const { target = '' } = settings.backup;
    const result = await this.#command(['backup', 'verify', target]);
    if (this.#stopped()) return;
    try {
      // The command recorded it, unless it could not read any snapshot.
      const failed = { target, at: clock(), ok: false, snapshot: null, messages: 0 };
      if (!result.ok) await recordVerification(settings.dataDir, { ...failed, problem: result.message });
    } catch (error) {
      log.error({ err: error }, 'failed to record the verification of the backup');
    }
    if (!result.ok) log.error({ target, reason: result.message }, 'failed to verify the backup');
    else logVerification(log, target, result.value as Pick<VerificationStatus, 'ok'> & { problems: string[] });
  }

  #command(words: readonly string[], stop?: AbortSignal): Promise<CommandResult> {
    const { command = runBackupCommand } = this.#options;
    return command(words, stop === undefined ? this.#stop.signal : AbortSignal.any([stop, this.#stop.signal]));
  }

  #stopped(stop?: AbortSignal): boolean {
    return this.#stop.signal.aborted || stop?.aborted === true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running?.done;
  }
}

function logVerification(log: Log, target: string, { ok, problems }: { ok: boolean; problems: string[] }): void {
  if (ok) log.info({ target }, 'backup verified');
  else log.error({ target, problems: problems.slice(0, 10) }, 'the backup is damaged: make a new one in a new target');
}

function summary({ snapshot, seconds, removed, damaged }: BackupOutcome): object {
  const { id, messages, added } = snapshot;
  return { snapshot: id, messages, added, seconds, removed, damaged: damaged.length };
}
