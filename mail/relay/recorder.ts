import type { Log } from '../log.ts';
import type { Clock } from './clock.ts';
import type { AttemptResult, BounceMessage, Queue } from './needs.ts';

const RETRY_MS = 5000;
/** Groups whose results wait; beyond, nothing new is sent until the store has caught up. */
const MOST_WAITING = 1000;

/** What one group came to: its results and reports are one commit. */
interface Ended {
  results: readonly AttemptResult[];
  bounces: readonly BounceMessage[];
  written: () => void;
}

/**
 * Writes results to the queue: what comes in while one write is under way goes into the next one. A write that fails is
 * tried again, for a result that is forgotten is a message delivered twice.
 */
export class Recorder {
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #log: Log;
  #waiting: Ended[] = [];
  #writing: Promise<void> | undefined;
  #closing = false;

  constructor(queue: Queue, clock: Clock, log: Log) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes what a group came to. `written` is called after the commit. */
  add(results: readonly AttemptResult[], bounces: readonly BounceMessage[], written: () => void): void {
    this.#waiting.push({ results, bounces, written });
    this.#writing ??= this.#write();
  }

  /** Something to wait for before more is sent, or undefined when the store keeps up. */
  get crowded(): Promise<void> | undefined {
    return this.#waiting.length > MOST_WAITING ? this.#writing : undefined;
  }

  /** Writes what is left. What the store does not take now is let go: those rows come back by the time begun with. */
  async close(): Promise<void> {
    this.#closing = true;
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    // Let the results of this turn of the loop come together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      if (await this.#finish(batch)) continue;
      // One result that the store will not have must not keep the others from being written.
      const refused: Ended[] = [];
      for (const ended of batch) if (batch.length === 1 || !(await this.#finish([ended]))) refused.push(ended);
      if (refused.length === 0) continue;
      if (this.#closing) break;
      await new Promise<void>((resolve) => this.#clock.after(RETRY_MS, resolve));
      this.#waiting.unshift(...refused);
    }
    this.#writing = undefined;
  }

  async #finish(batch: readonly Ended[]): Promise<boolean> {
    const results = batch.flatMap((ended) => ended.results);
    try {
      await this.#queue.finish(
        results,
        batch.flatMap((ended) => ended.bounces),
      );
    } catch (error) {
      this.#log.error({ err: error, results: results.length }, 'results of delivery attempts were not recorded');
      return false;
    }
    for (const { written } of batch) written();
    return true;
  }
}
