/** Interval of sweeps for messages that other nodes purged. */
const SWEEP_EVERY_MS = 3_600_000;
/** Rest after a sweep, in units of its duration: the index of a large server is swept for minutes. */
const REST_FACTOR = 9;
/** Delay after a failed sweep, since the cause may persist. */
const RETRY_MS = 60_000;

/**
 * Decides when the full-text index is swept for purged messages. The first sweep is due at the start: the last one may
 * have been cut off, or the server stopped between a purge and its sweep. Times are monotonic, ms.
 */
export class SweepSchedule {
  #isDue = true;
  #beganAt: number | undefined;
  #endedAt: number;
  #notBefore: number;

  constructor(now: number) {
    this.#endedAt = now;
    this.#notBefore = now;
  }

  /** Messages were purged. A running sweep may be past them, so another one follows. */
  request(): void {
    this.#isDue = true;
  }

  /** Begins a sweep if one is due; false: none is, or one runs. */
  begin(now: number): boolean {
    if (this.#beganAt !== undefined || (this.waitMs(now) !== 0 && now - this.#endedAt < SWEEP_EVERY_MS)) return false;
    this.#isDue = false;
    this.#beganAt = now;
    return true;
  }

  /** Ends the running sweep. `complete`: it went through the whole index. */
  end(now: number, complete: boolean): void {
    if (this.#beganAt === undefined) return;
    const rest = Math.min(SWEEP_EVERY_MS, REST_FACTOR * (now - this.#beganAt));
    this.#beganAt = undefined;
    this.#endedAt = now;
    this.#notBefore = now + (complete ? rest : RETRY_MS);
    this.#isDue ||= !complete;
  }

  /** Time until the next sweep may begin, ms; undefined: none is due, or one runs. */
  waitMs(now: number): number | undefined {
    return this.#isDue && this.#beganAt === undefined ? Math.max(0, this.#notBefore - now) : undefined;
  }
}
