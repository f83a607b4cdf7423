import { setTimeout as sleep } from 'node:timers/promises';

/** Replies that are delayed at once. Beyond it none is: delaying strangers must not use up our own connections. */
const MAX_HELD = 100;

/** Delays replies to unknown senders, a limited number at a time. */
export class Tarpit {
  readonly #max: number;
  readonly #closed = new AbortController();
  #held = 0;

  constructor(max = MAX_HELD) {
    this.#max = max;
  }

  get held(): number {
    return this.#held;
  }

  /** Resolves after the delay, or at once when too many replies are delayed or the server closes. Never rejects. */
  async hold(ms: number): Promise<void> {
    if (ms <= 0 || this.#held >= this.#max || this.#closed.signal.aborted) return;
    this.#held += 1;
    try {
      await sleep(ms, undefined, { signal: this.#closed.signal });
    } catch {
      // Closed: the reply is sent now.
    } finally {
      this.#held -= 1;
    }
  }

  /** Ends all delays. */
  close(): void {
    this.#closed.abort();
  }
}
