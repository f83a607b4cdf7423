import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../mail/log.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { type EndedAttempt, endWebhookAttempts, type WebhookNews } from './commands.ts';

/** Ends of attempts in one command; each touches a few rows. */
const TOGETHER = 80;
const PAUSE_MS = 5_000;

export interface Ended extends EndedAttempt {
  news: readonly WebhookNews[];
}

/**
 * Writes down how attempts ended, those of all webhooks that ended during one commit in the next one. What cannot be
 * written stays here and is written later: a receiver that took something is not told again because our disk is full.
 */
export class Recorder {
  readonly #store: Store;
  readonly #log: Log;
  readonly #queued: () => void;
  #waiting: { ended: Ended; done: () => void }[] = [];
  #writing: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(store: Store, log: Log, queued: () => void) {
    this.#store = store;
    this.#log = log;
    this.#queued = queued;
  }

  /** Ends that wait to be written. */
  get depth(): number {
    return this.#waiting.length;
  }

  /** Resolves when it is committed, or when this closes without: then it is told again after the next start. */
  record(ended: Ended): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ ended, done: resolve });
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
    return promise;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, TOGETHER);
      const written = await this.#write(batch.map((one) => one.ended));
      if (!written && !this.#closing.signal.aborted) continue;
      this.#waiting.splice(0, batch.length);
      for (const { done } of batch) done();
    }
  }

  async #write(batch: readonly Ended[]): Promise<boolean> {
    try {
      const news = batch.flatMap((one) => one.news);
      const ended = batch.map(({ notice, end, attempt }) => ({ notice, end, attempt }));
      const { queued } = await this.#store.write(endWebhookAttempts, { ended, news });
      if (queued) this.#queued();
      return true;
    } catch (error) {
      this.#log.error({ err: error }, 'how webhooks were told could not be written down, it is tried again');
      await sleep(PAUSE_MS, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
      return false;
    }
  }
}
