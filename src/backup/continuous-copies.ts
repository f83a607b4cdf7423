import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BackupSettings } from '../../config/parse-backup.ts';
import type { Job } from '../../mail/jobs/scheduler.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { ContinuousState } from './continuous-backup.ts';

const COMMAND = fileURLToPath(new URL('../start/mailstead.ts', import.meta.url));
const CHECK_MS = 5_000;
/** Pause after the process ended by itself, doubled each time that it did before it copied anything. */
const RESTART_MS = 2_500;
const MAX_RESTART_MS = 60_000;
const MAX_REASON = 4_096;
/** An age of so many pauses, and a minute, is an alarm. */
const LATE_PAUSES = 10;
const LATE_MS = 60_000;
const ALARM_EVERY_MS = 3_600_000;
const STOP_MS = 5_000;

interface ContinuousCopiesOptions {
  settings: BackupSettings;
  dataDir: string;
  clock: () => number;
  log: Log;
  meter: Meter;
}

/** Keeps the process that copies commits to the target alive, and reports the age of what it copied. */
export class ContinuousCopies implements Job, AsyncDisposable {
  readonly name = 'continuous backup';
  readonly everyMs = CHECK_MS;
  readonly firstMs = 500;
  readonly #options: ContinuousCopiesOptions;
  readonly #began: number;
  #child: ChildProcess | undefined;
  #state: ContinuousState | undefined;
  #copiedUntil: number | undefined;
  #alarmedAt = 0;
  #startAt = 0;
  #failures = 0;
  #stopping = false;

  constructor(options: ContinuousCopiesOptions) {
    this.#options = options;
    this.#began = options.clock();
  }

  async run(stop: AbortSignal): Promise<void> {
    const { target, continuousMs } = this.#options.settings;
    if (target === undefined || continuousMs === 0 || stop.aborted) return;
    if (performance.now() >= this.#startAt) this.#child ??= this.#start(target);
    this.#report();
    await Promise.resolve();
  }

  #start(target: string): ChildProcess {
    const { dataDir, log } = this.#options;
    const envFiles = process.argv.flatMap((arg, i) => (arg === '--env-file' ? [arg, process.argv[i + 1] ?? ''] : []));
    const child = fork(COMMAND, ['backup', target, '--continuous', '--data-dir', dataDir, ...envFiles, '--json'], {
      execArgv: ['--max-old-space-size=512'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let reason = '';
    child.stderr?.on('data', (chunk: Buffer) => (reason += chunk.toString().slice(0, MAX_REASON - reason.length)));
    child.on('message', (state) => {
      this.#state = state as ContinuousState;
      if (this.#state.copiedUntil !== null) this.#failures = 0;
    });
    child.on('error', (error) => log.error({ err: error }, 'failed to start continuous backup'));
    child.once('close', (code, signal) => {
      this.#child = undefined;
      this.#startAt = performance.now() + Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** Math.min(this.#failures++, 10));
      if (!this.#stopping) log.error({ code, signal, reason }, 'continuous backup ended, will start again');
    });
    return child;
  }

  #report(): void {
    const { clock, meter, log, settings } = this.#options;
    this.#copiedUntil = this.#state?.copiedUntil ?? this.#copiedUntil;
    const age = Math.max(0, clock() - (this.#copiedUntil ?? this.#began));
    meter.gauge('backup_copied_age_seconds', age / 1_000);
    const isLate = age >= LATE_MS + LATE_PAUSES * settings.continuousMs;
    if (!isLate || clock() - this.#alarmedAt < ALARM_EVERY_MS) return;
    this.#alarmedAt = clock();
    log.error(
      { target: settings.target, seconds: Math.round(age / 1_000), reason: this.#state?.problem ?? null },
      'new mail is not copied to the backup: read the reason',
    );
  }

  /** Copies what was committed until now, if that takes a few seconds only. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
  }
}
