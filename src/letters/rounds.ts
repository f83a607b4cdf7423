import type { Log } from '../../mail/log.ts';

/** After failures the pause doubles, up to this. */
const LONGEST_PAUSE_MS = 10 * 60_000;

export interface RoundsOptions {
  round: () => Promise<void>;
  everyMs: number;
  /** Until the first round; left out: as long as between two. */
  firstMs?: number;
  /** What the log says of a round that failed: it is tried again. */
  failed: string;
  log: Log;
}

/** Does something again and again, one round at a time, until it is closed. */
export class Rounds implements AsyncDisposable {
  readonly #options: RoundsOptions;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #failures = 0;
  #closing = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
    this.#timer = this.#later(options.firstMs ?? options.everyMs);
  }

  /** A long round leaves off where it is. */
  get closing(): boolean {
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.#run();
    }, ms).unref();
  }

  async #run(): Promise<void> {
    const { round, failed, log } = this.#options;
    try {
      await round();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      log.error({ err: error }, failed);
    }
    if (!this.#closing) this.#timer = this.#later(this.#pause());
  }

  #pause(): number {
    const { everyMs } = this.#options;
    return Math.max(everyMs, Math.min(everyMs * 2 ** this.#failures, LONGEST_PAUSE_MS));
  }
}
