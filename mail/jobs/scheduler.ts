import type { Log } from '../log.ts';

/** Pause before an overdue run, so that there is no busy loop. */
const MIN_PAUSE_MS = 50;
const MAX_BACKOFF_MS = 10 * 60_000;
/** From this pause on, 10% of jitter spreads the jobs. */
const SPREAD_FROM_MS = 60_000;

/** Periodic work, or work due at a time that the job returns. */
export interface Job {
  readonly name: string;
  /** Maximum pause between two runs, ms: clocks jump, and new work arrives without notice. */
  readonly everyMs: number;
  /** Pause before the first run, ms; left out: `everyMs`. */
  readonly firstMs?: number;
  /** Maximum pause after failures, ms; ten minutes if left out. */
  readonly backoffMs?: number;
  /** Runs once, and stops early when `stop` is aborted. Returns when work is due next, ms UTC, if known. */
  run(stop: AbortSignal): Promise<number | void>;
}

export interface SchedulerOptions {
  clock: () => number;
  log: Log;
  random?: () => number;
}

/** Runs the periodic jobs of the process: one run of each at a time, with a backoff after failures. */
export class Scheduler {
  readonly #options: SchedulerOptions;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Starts a job. Disposing the result stops it and waits for its run. */
  add(job: Job): AsyncDisposable {
    return new ScheduledJob(job, this.#options);
  }
}

class ScheduledJob implements AsyncDisposable {
  readonly #job: Job;
  readonly #options: SchedulerOptions;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #failures = 0;

  constructor(job: Job, options: SchedulerOptions) {
    this.#job = job;
    this.#options = options;
    this.#timer = this.#later(job.firstMs ?? job.everyMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#running = this.#run();
    }, ms).unref();
  }

  async #run(): Promise<void> {
    let due: number | void = undefined;
    try {
      due = await this.#job.run(this.#stop.signal);
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      this.#options.log.error({ err: error, job: this.#job.name }, 'job failed, will retry');
    }
    if (!this.#stop.signal.aborted) this.#timer = this.#later(this.#pause(due));
  }

  #pause(due: number | void): number {
    const { clock, random = Math.random } = this.#options;
    const { everyMs, backoffMs = MAX_BACKOFF_MS } = this.#job;
    if (this.#failures > 0) return Math.max(everyMs, Math.min(everyMs * 2 ** this.#failures, backoffMs));
    if (typeof due === 'number') return Math.min(everyMs, Math.max(MIN_PAUSE_MS, due - clock()));
    return everyMs < SPREAD_FROM_MS ? everyMs : everyMs * (1 + random() / 10);
  }
}
