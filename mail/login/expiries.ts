const LOOK_MS = 1000;

interface Waiting {
  readonly at: number;
  readonly end: () => void;
}

/** Ends sessions when their credential expires. One timer for all, and none while nobody's expires. */
export class Expiries {
  readonly #clock: () => number;
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Calls `end` once, within a second after `at` (ms UTC). The answer stops waiting. */
  add(at: number, end: () => void): () => void {
    const one = { at, end };
    this.#waiting.add(one);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => this.#forget(one);
  }

  #look(): void {
    const now = this.#clock();
    for (const one of [...this.#waiting].filter(({ at }) => at <= now)) {
      this.#forget(one);
      one.end();
    }
  }

  #forget(one: Waiting): void {
    this.#waiting.delete(one);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
