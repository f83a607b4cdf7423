import { addDmarcResults, type CountedDmarcResult, type DmarcResult } from '../store/filter/dmarc-result.ts';
import { dayOf } from '../store/queue/tls-result.ts';
import type { MailStore } from '../store/store.ts';
import type { Job } from './scheduler.ts';

/** Distinct results in memory; further ones are not counted until the next write. */
const MAX_RESULTS = 10_000;
const MAX_BATCH = 200;

/**
 * Counts DMARC results for aggregate reports, and writes them every minute: a commit for each message would halve the rate of
 * arrival. A crash loses at most the counts of that minute.
 */
export class DmarcCounter implements Job, AsyncDisposable {
  readonly name = 'dmarc-results';
  readonly everyMs = 60_000;
  readonly #store: Pick<MailStore, 'writeSlice'>;
  readonly #clock: () => number;
  readonly #counts = new Map<string, CountedDmarcResult & { day: number }>();

  constructor(store: Pick<MailStore, 'writeSlice'>, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  count(result: DmarcResult): void {
    const day = dayOf(this.#clock());
    const key = JSON.stringify([day, result]);
    const there = this.#counts.get(key);
    if (there !== undefined) there.messages += 1;
    else if (this.#counts.size < MAX_RESULTS) this.#counts.set(key, { ...result, day, messages: 1 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run().catch(() => undefined);
  }

  /** Writes the counts. */
  async run(): Promise<void> {
    while (this.#counts.size > 0) {
      const [[, { day }] = ['', { day: 0 }]] = this.#counts;
      const taken = [...this.#counts].filter(([, one]) => one.day === day).slice(0, MAX_BATCH);
      for (const [key] of taken) this.#counts.delete(key);
      await this.#store.writeSlice(addDmarcResults, { day, results: taken.map(([, { day: _day, ...one }]) => one) });
    }
  }
}
