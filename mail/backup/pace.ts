import { setTimeout as delay } from 'node:timers/promises';

/** Shorter pauses are saved up. */
const MIN_PAUSE_MS = 5;

/** Bounds the octets that are read in a second, so that mail flows meanwhile. */
export class Pace {
  readonly #perMs: number;
  #due = 0;

  /** `mebibytes`: in a second; 0: not bounded. */
  constructor(mebibytes: number) {
    this.#perMs = (mebibytes * 1_048_576) / 1_000;
  }

  async took(octets: number): Promise<void> {
    if (this.#perMs === 0) return;
    const now = performance.now();
    this.#due = Math.max(this.#due, now - 100) + octets / this.#perMs;
    if (this.#due - now > MIN_PAUSE_MS) await delay(this.#due - now);
  }
}
