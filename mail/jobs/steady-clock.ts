/** A step back of the system clock that is followed at once, ms: what a time service corrects. */
const MAX_BACK_MS = 5 * 60_000;
/** A step forward that is followed without doubt, ms: while the process runs, and between two processes. */
const MAX_AHEAD_MS = 3_600_000;
const MAX_AHEAD_AT_START_MS = 24 * 3_600_000;
/** Time that has to pass on the monotonic clock before a jump is believed, ms. */
export const CONFIRMATION_MS = 24 * 3_600_000;

/** The clock at its last check; stored, since the monotonic clock ends with the process. Times in ms UTC. */
export interface ClockRecord {
  /** The time that was confirmed. */
  confirmed: number;
  /** The system clock. */
  wall: number;
  /** Time on the monotonic clock since a jump that is not confirmed yet, ms; undefined: there is none. */
  waitedMs?: number;
}

/** Relation of the system clock to the confirmed time. */
export type ClockState =
  | { kind: 'steady' }
  /** `byMs`: the difference; `leftMs`: time on the monotonic clock until the jump is believed. */
  | { kind: 'ahead' | 'behind'; byMs: number; leftMs: number };

/**
 * A clock that distrusts jumps of the system clock. Compares it with a confirmed time that goes on by the monotonic clock. After
 * a jump back the confirmed time is used; a jump forward is followed, but reported until a day has passed, so that purges can
 * wait. A system clock that returns ends the doubt at once.
 */
export class SteadyClock {
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  /** The confirmed time at a moment of the monotonic clock. */
  #confirmed: { at: number; monotonic: number };
  /** The unconfirmed jump: difference of system clock and monotonic clock, and when that was first seen. */
  #jump: { offset: number; since: number } | undefined;

  constructor(wall: () => number = Date.now, monotonic: () => number = () => performance.now()) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#confirmed = { at: wall(), monotonic: monotonic() };
  }

  /** Continues from the record of an earlier process. */
  restore(record: ClockRecord): void {
    const wall = this.#wall();
    const monotonic = this.#monotonic();
    this.#confirmed = { at: record.confirmed, monotonic };
    const passed = wall - record.wall;
    const same = passed >= -MAX_BACK_MS && passed <= MAX_AHEAD_AT_START_MS;
    this.#jump =
      record.waitedMs === undefined || !same
        ? undefined
        : { offset: wall - monotonic, since: monotonic - record.waitedMs };
    this.#check(MAX_AHEAD_AT_START_MS);
  }

  /** The time, ms UTC. Does not follow a jump back. */
  now(): number {
    const confirmed = this.#extrapolated();
    const wall = this.#wall();
    return wall < confirmed - MAX_BACK_MS ? confirmed : wall;
  }

  /** Compares with the system clock, and confirms what has been steady for long enough. */
  state(): ClockState {
    return this.#check(MAX_AHEAD_MS);
  }

  /** The time by which the clock is ahead without confirmation, ms. */
  aheadMs(): number {
    const state = this.state();
    return state.kind === 'ahead' ? state.byMs : 0;
  }

  /** Record for the next process. */
  record(): ClockRecord {
    const state = this.state();
    const record = { confirmed: this.#extrapolated(), wall: this.#wall() };
    return state.kind === 'steady' ? record : { ...record, waitedMs: CONFIRMATION_MS - state.leftMs };
  }

  #extrapolated(): number {
    // Whole milliseconds: the columns of the store take no others.
    return Math.round(this.#confirmed.at + this.#monotonic() - this.#confirmed.monotonic);
  }

  #check(maxAheadMs: number): ClockState {
    const wall = this.#wall();
    const monotonic = this.#monotonic();
    const ahead = wall - this.#extrapolated();
    const offset = wall - monotonic;
    const most = this.#jump === undefined ? maxAheadMs : MAX_AHEAD_MS;
    if (ahead >= -MAX_BACK_MS && ahead <= most) return this.#confirm(wall, monotonic);
    if (this.#jump === undefined || Math.abs(offset - this.#jump.offset) > MAX_AHEAD_MS) {
      this.#jump = { offset, since: monotonic };
    }
    const leftMs = CONFIRMATION_MS - (monotonic - this.#jump.since);
    if (leftMs <= 0) return this.#confirm(wall, monotonic);
    return { kind: ahead > 0 ? 'ahead' : 'behind', byMs: Math.abs(ahead), leftMs };
  }

  #confirm(wall: number, monotonic: number): ClockState {
    this.#confirmed = { at: wall, monotonic };
    this.#jump = undefined;
    return { kind: 'steady' };
  }
}
