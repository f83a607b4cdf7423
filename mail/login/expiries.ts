const CHECK_INTERVAL_MS = 1000;

interface SessionExpiry {
  readonly at: number;
  readonly end: () => void;
}

/**
 * Ends sessions when their credential expires. One interval for all sessions, because a timeout is limited to 24.8 days;
 * none while no session expires.
 */
export class SessionExpiries {
  readonly #clock: () => number;
  /** Bounded by the open sessions. */
  readonly #waiting = new Set<SessionExpiry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Calls `end` once, within a second after `at` (ms UTC). Returns a function that cancels it. */
  add(at: number, end: () => void): () => void {
    const one = { at, end };
    this.#waiting.add(one);
    this.#timer ??= setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
    return () => this.#remove(one);
  }

  #check(): void {
    const now = this.#clock();
    for (const one of [...this.#waiting].filter(({ at }) => at <= now)) {
      this.#remove(one);
      one.end();
    }
  }

  #remove(one: SessionExpiry): void {
    this.#waiting.delete(one);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
