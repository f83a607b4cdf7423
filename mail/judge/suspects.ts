import { networkOf } from '../policy/network.ts';

const HOUR_MS = 3_600_000;
/** Mail of a network over which the judge ended so often within an hour is not shown to it. */
const TIMES = 3;
/** Networks that are remembered; those that were noted longest ago go first. */
const MOST = 10_000;

/** Whose mail was the end of the judge: a message that is, sent again and again, must not be everybody's. */
export class Suspects {
  /** By network, when: the last times, ms. */
  readonly #failures = new Map<string, readonly number[]>();

  /** The judge ended over mail of this peer, and nobody else's. */
  note(peer: string, now: number): void {
    const key = networkOf(peer);
    // Behind an address that is not public may be everybody, where a proxy hides who comes.
    if (key === '') return;
    const before = this.#failures.get(key) ?? [];
    this.#failures.delete(key);
    this.#failures.set(key, [...before, now].slice(-TIMES));
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= MOST) break;
      this.#failures.delete(key);
    }
  }

  isShutOut(peer: string, now: number): boolean {
    const failures = this.#failures.get(networkOf(peer)) ?? [];
    const [first] = failures;
    return failures.length === TIMES && first !== undefined && now - first < HOUR_MS;
  }
}
