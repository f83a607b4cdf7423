import { RecentMap } from '../guard/recent-map.ts';

const HOUR_MS = 3_600_000;
/** Unasked reports that a mailbox takes in an hour: more come only when somebody writes in its name elsewhere. */
const MOST = 200;
const MOST_KNOWN = 10_000;

/** How many reports came lately for each mailbox, or whoever else they are counted for; so many an hour may. */
export class ReportPace<Whose extends number | string = number> {
  readonly #counts = new RecentMap<Whose, { since: number; count: number }>(MOST_KNOWN);
  readonly #most: number;

  constructor(most = MOST) {
    this.#most = most;
  }

  /** Counts one. False when it is too much. */
  take(whose: Whose, now: number): boolean {
    const known = this.#counts.get(whose);
    if (known === undefined || now - known.since >= HOUR_MS) {
      this.#counts.set(whose, { since: now, count: 1 });
      return true;
    }
    known.count += 1;
    return known.count <= this.#most;
  }
}
