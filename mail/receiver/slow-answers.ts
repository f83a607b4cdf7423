import { setTimeout as sleep } from 'node:timers/promises';

/** Answers that are held back at once; beyond, nobody waits: to slow strangers down must not take our own slots. */
const MOST = 100;

/** Holds answers to strangers back for a while, so many at a time. */
export class SlowAnswers {
  readonly #most: number;
  readonly #ended = new AbortController();
  #held = 0;

  constructor(most = MOST) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** Resolves after that time, or at once when too many wait already or the process ends; never rejects. */
  async hold(ms: number): Promise<void> {
    if (ms <= 0 || this.#held >= this.#most || this.#ended.signal.aborted) return;
    this.#held += 1;
    try {
      await sleep(ms, undefined, { signal: this.#ended.signal });
    } catch {
      // Ended: the answer is given now.
    } finally {
      this.#held -= 1;
    }
  }

  /** Lets everybody go who waits. */
  end(): void {
    this.#ended.abort();
  }
}
