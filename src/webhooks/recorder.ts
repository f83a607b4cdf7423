import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../mail/log.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { type EndedAttempt, endWebhookAttempts } from './commands.ts';

/** Finished attempts in one command; each changes a few rows. */
const BATCH_SIZE = 80;
const PAUSE_MS = 5_000;

/**
 * Records finished attempts: those that finish during one commit are written in the next. Retries failed writes, so that a
 * full disk does not repeat deliveries that a receiver accepted.
 */
export class WebhookRecorder {
  readonly #store: Store;
  readonly #log: Log;
  #waiting: { ended: EndedAttempt; done: () => void }[] = [];
  #writing: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** Unrecorded attempts. */
  get depth(): number {
    return this.#waiting.length;
  }

  /** Resolves when committed, or when this closes first: then the event is sent again after the next start. */
  record(ended: EndedAttempt): Promise<void> {
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
      const batch = this.#waiting.slice(0, BATCH_SIZE);
      const written = await this.#write(batch.map((one) => one.ended));
      if (!written && !this.#closing.signal.aborted) continue;
      this.#waiting.splice(0, batch.length);
      for (const { done } of batch) done();
    }
  }

  async #write(ended: readonly EndedAttempt[]): Promise<boolean> {
    try {
      await this.#store.write(endWebhookAttempts, { ended });
      return true;
    } catch (error) {
      this.#log.error({ err: error }, 'failed to record webhook deliveries, will retry');
      await sleep(PAUSE_MS, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
      return false;
    }
  }
}
