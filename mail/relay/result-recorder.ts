import type { Log } from '../log.ts';
import type { RelayClock } from './clock.ts';
import type { AttemptResult } from '../store/queue/queue.ts';
import type { BounceMessage, RelayQueue } from './relay-queue.ts';

const RETRY_MS = 5000;
/** Groups with unrecorded results; above, sending pauses until the store has caught up. */
const MAX_WAITING = 1000;

/** Results and reports of one group, recorded in one commit. */
interface GroupOutcome {
  results: readonly AttemptResult[];
  bounces: readonly BounceMessage[];
  onCommitted: () => void;
}

/**
 * Records results in batches: those that arrive during a write go into the next one. A failed write is retried: a lost result
 * means a duplicate delivery.
 */
export class ResultRecorder {
  readonly #queue: RelayQueue;
  readonly #clock: RelayClock;
  readonly #log: Log;
  #waiting: GroupOutcome[] = [];
  #writing: Promise<void> | undefined;
  #closing = false;

  constructor(queue: RelayQueue, clock: RelayClock, log: Log) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
  }

  /** Adds the results of a group. `onCommitted` is called after the commit. */
  add(results: readonly AttemptResult[], bounces: readonly BounceMessage[], onCommitted: () => void): void {
    this.#waiting.push({ results, bounces, onCommitted: onCommitted });
    this.#writing ??= this.#write();
  }

  /** Promise to wait for before sending more; undefined if the store keeps up. */
  get backpressure(): Promise<void> | undefined {
    return this.#waiting.length > MAX_WAITING ? this.#writing : undefined;
  }

  /** Writes the rest. Results that the store does not accept now are dropped: their rows are retried at their recorded time. */
  async close(): Promise<void> {
    this.#closing = true;
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    // Collect the results of this turn of the event loop.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      if (await this.#finish(batch)) continue;
      // One result that the store rejects must not block the others.
      const refused: GroupOutcome[] = [];
      for (const ended of batch) if (batch.length === 1 || !(await this.#finish([ended]))) refused.push(ended);
      if (refused.length === 0) continue;
      if (this.#closing) break;
      await new Promise<void>((resolve) => this.#clock.after(RETRY_MS, resolve));
      this.#waiting.unshift(...refused);
    }
    this.#writing = undefined;
  }

  async #finish(batch: readonly GroupOutcome[]): Promise<boolean> {
    const results = batch.flatMap((ended) => ended.results);
    try {
      await this.#queue.finish(
        results,
        batch.flatMap((ended) => ended.bounces),
      );
    } catch (error) {
      this.#log.error({ err: error, results: results.length }, 'failed to record delivery results');
      return false;
    }
    for (const { onCommitted } of batch) onCommitted();
    return true;
  }
}
