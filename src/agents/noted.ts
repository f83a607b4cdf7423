import { FRESH_MS } from '../../mail/store/exposure.ts';

/** What is remembered; what was forgotten is only looked up again. */
const MOST = 50_000;

/** What was written down within the hour, in the order of time: it is not written again. */
export class Noted {
  readonly #known = new Map<string, number>();

  /** `now`: ms UTC. */
  has(key: string, now: number): boolean {
    const at = this.#known.get(key);
    return at !== undefined && at > now - FRESH_MS && at <= now;
  }

  add(key: string, now: number): void {
    this.#known.delete(key);
    this.#known.set(key, now);
    if (this.#known.size <= MOST) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      if (this.#known.size <= MOST * 0.9) return;
    }
  }
}
