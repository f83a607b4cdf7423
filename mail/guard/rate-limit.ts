import { RecentMap } from './recent-map.ts';

const WINDOW_MS = 60_000;
/** Subjects that are remembered at most; the oldest window goes first. */
const MOST_SUBJECTS = 50_000;

/** What one subject may use in a minute, counted in memory: a flood is no reason to write. */
export class RateLimit {
  readonly #most: number;
  readonly #windows = new RecentMap<string, { from: number; count: number }>(MOST_SUBJECTS);

  constructor(perMinute: number) {
    this.#most = perMinute;
  }

  /** Counts one more; answers 0 when it may go on, else the seconds until it may. `now` in ms. */
  take(subject: string, now: number): number {
    const wait = this.wait(subject, now);
    if (wait === 0) this.spend(subject, 1, now);
    return wait;
  }

  /** Seconds until the subject may go on; counts nothing. */
  wait(subject: string, now: number): number {
    const window = this.#windows.get(subject);
    if (window === undefined || isOver(window, now) || window.count < this.#most) return 0;
    return Math.max(1, Math.ceil((window.from + WINDOW_MS - now) / 1000));
  }

  /** Counts what was used, also beyond what may be. */
  spend(subject: string, amount: number, now: number): void {
    const window = this.#windows.get(subject);
    if (window === undefined || isOver(window, now)) this.#windows.set(subject, { from: now, count: amount });
    else window.count += amount;
  }

  /** Subjects that are remembered. */
  get size(): number {
    return this.#windows.size;
  }
}

/** A window that begins in the future comes from a clock that was set back. */
function isOver({ from }: { from: number }, now: number): boolean {
  return now - from >= WINDOW_MS || from > now + WINDOW_MS;
}
