import { networkOf } from '../../mail/receiver/admission.ts';

const WINDOW_MS = 60_000;
/** Subjects that are remembered at most; the oldest window goes first. */
const MOST_SUBJECTS = 50_000;

/** Calls a minute that one subject may make, counted in memory: a flood is no reason to write. */
export class RateLimit {
  readonly #most: number;
  readonly #windows = new Map<string, { from: number; count: number }>();

  constructor(perMinute: number) {
    this.#most = perMinute;
  }

  /** Counts one call; answers 0 when it may go on, else the seconds until it may. `now` in ms. */
  take(subject: string, now: number): number {
    const window = this.#windows.get(subject);
    if (window === undefined || now - window.from >= WINDOW_MS) {
      this.#begin(subject, now);
      return 0;
    }
    if (window.count < this.#most) {
      window.count++;
      return 0;
    }
    return Math.max(1, Math.ceil((window.from + WINDOW_MS - now) / 1000));
  }

  /** Subjects that are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  #begin(subject: string, now: number): void {
    this.#windows.delete(subject);
    if (this.#windows.size >= MOST_SUBJECTS) {
      const [oldest] = this.#windows.keys();
      if (oldest !== undefined) this.#windows.delete(oldest);
    }
    this.#windows.set(subject, { from: now, count: 1 });
  }
}

/** The limits of the HTTP doors, shared by MCP and REST: a second door is no second allowance. */
export class HttpLimits {
  readonly #anonymous = new RateLimit(100);
  readonly #token = new RateLimit(6_000);
  readonly #free: (ip: string) => boolean;

  /** `free` are peers that are not counted: exempt networks, and loopback in local mode. */
  constructor(free: (ip: string) => boolean) {
    this.#free = free;
  }

  /** Seconds to wait, or 0. `token` is the id of the token or key that was presented and holds. */
  take(ip: string, token: number | string | undefined, now: number): number {
    if (this.#free(ip)) return 0;
    return token === undefined ? this.#anonymous.take(networkOf(ip), now) : this.#token.take(String(token), now);
  }
}
