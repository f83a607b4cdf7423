import type { Log } from '../log.ts';
import type { Clock } from './clock.ts';
import type { AttemptResult, BounceMessage, Queue } from './needs.ts';

const RETRY_MS = 5000;
/** Rows whose results wait; beyond, nothing new is sent until the store has caught up. */
const MOST_WAITING = 2000;

/**
 * Writes results to the queue: what comes in while one write is under way goes into the next one. A write that fails is
 * tried again, for a result that is forgotten is a message delivered twice.
 */
export class Recorder {
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #log: Log;
  #results: AttemptResult[] = [];
  #bounces: BounceMessage[] = [];
  #written: (() => void)[] = [];
  #writing: Promise<void> | undefined;

  constructor(queue: Queue, clock: Clock, log: Log) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes the results of one group and its reports: they are one commit. `written` is called after it. */
  add(results: readonly AttemptResult[], bounces: readonly BounceMessage[], written: () => void): void {
    this.#results.push(...results);
    this.#bounces.push(...bounces);
    this.#written.push(written);
    this.#writing ??= this.#write();
  }

  /** Something to wait for before more is sent, or undefined when the store keeps up. */
  get crowded(): Promise<void> | undefined {
    return this.#results.length > MOST_WAITING ? this.#writing : undefined;
  }

  /** Resolves when everything is written. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    // Let the results of this turn of the loop come together.
    await Promise.resolve();
    while (this.#results.length > 0) {
      const [results, bounces, written] = [this.#results, this.#bounces, this.#written];
      [this.#results, this.#bounces, this.#written] = [[], [], []];
      await this.#finish(results, bounces);
      for (const call of written) call();
    }
    this.#writing = undefined;
  }

  async #finish(results: readonly AttemptResult[], bounces: readonly BounceMessage[]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#queue.finish(results, bounces);
      } catch (error) {
        this.#log.error(
          { err: error, results: results.length, tries },
          'results of delivery attempts were not recorded',
        );
        await new Promise<void>((resolve) => this.#clock.after(RETRY_MS, resolve));
      }
    }
  }
}
