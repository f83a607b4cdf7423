/** Ends of the server in a row that an import survives without getting further: it may be what ends the server. */
export const MAX_CRASHES = 8;
/** Pauses after so many ends of the server without getting further: what else ends it has passed by then. */
const CRASH_PAUSES_MS: readonly number[] = [0, 0, 0, 10_000, 60_000, 300_000, 900_000, 3_600_000];

/** Pauses before further attempts after a failure that may pass; the last one repeats. */
const PAUSES_MS = [1, 2, 4, 8, 15, 30, 60].map((minutes) => minutes * 60_000);

/** Messages that a run of an import has dealt with. */
interface RunCounts {
  imported: number;
  known: number;
  skipped: number;
  total: number | null;
}

/** Fields that are stored with the progress. Times are ms UTC. */
export interface StoredAttempt {
  crashes: number;
  reached: number;
  failures: number;
  failingSince: number | null;
  hasBegun: boolean;
}

/** Counts the failures of an import, and the ends of the server while it ran, until it gets further. Stored with its progress. */
export class ImportAttempt {
  /** Ends since the import got further, counting the present run until it does. */
  crashes: number;
  /** True: a run read the source, so that its address and its login were right once. */
  hasBegun: boolean;
  #failures: number;
  #failingSince: number | null;
  /** Messages that one run got to at most. */
  #reached: number;
  readonly #hasWaited: boolean;

  /** `progress`: as the last run stored it, JSON. */
  constructor(progress: string) {
    const {
      crashes = 0,
      reached = 0,
      failures = 0,
      failingSince = null,
      hasBegun = false,
      retryAt = null,
    } = JSON.parse(progress) as Partial<StoredAttempt> & { retryAt?: number | null };
    this.crashes = crashes + 1;
    this.hasBegun = hasBegun;
    this.#failures = failures;
    this.#failingSince = failingSince;
    this.#reached = reached;
    this.#hasWaited = retryAt !== null;
  }

  /** True: the import may not run again. */
  get isHopeless(): boolean {
    return this.crashes > MAX_CRASHES;
  }

  /** Pause before this run, as the server ended during those before; 0: none. */
  get crashPauseMs(): number {
    return this.#hasWaited ? 0 : (CRASH_PAUSES_MS[this.crashes - 1] ?? 0);
  }

  /** Takes back the present run, which did not begin. */
  postpone(): void {
    this.crashes--;
  }

  /**
   * Notes how far this run is. A message that was not here before is always further: a pull that goes on counts from zero,
   * as it does not read again what an earlier run has pulled.
   */
  note({ imported, known, skipped, total }: RunCounts): void {
    const count = imported + known + skipped;
    this.hasBegun ||= total !== null || count > 0;
    if (imported > 0 || count > this.#reached) {
      this.crashes = 0;
      this.#failures = 0;
      this.#failingSince = null;
    }
    this.#reached = Math.max(this.#reached, count);
  }

  /** Notes that the run ended without a crash, such as by a stop of the server. */
  endOrderly(): void {
    this.crashes = 0;
  }

  /** Time of the next run after a failure that may pass; undefined: it has lasted for `patienceMs`. */
  retryAfterFailure(now: number, patienceMs: number): number | undefined {
    this.endOrderly();
    this.#failingSince ??= now;
    if (now - this.#failingSince >= patienceMs) return undefined;
    const pause = PAUSES_MS[Math.min(this.#failures, PAUSES_MS.length - 1)] ?? 0;
    this.#failures++;
    return now + pause;
  }

  /** Fields that are stored with the progress. */
  get stored(): StoredAttempt {
    return {
      crashes: this.crashes,
      reached: this.#reached,
      failures: this.#failures,
      failingSince: this.#failingSince,
      hasBegun: this.hasBegun,
    };
  }
}
