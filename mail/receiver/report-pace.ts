import { RecentMap } from '../login/recent-map.ts';

const HOUR_MS = 3_600_000;
/** Unasked reports that a mailbox takes in an hour: more come only when somebody writes in its name elsewhere. */
const MOST = 200;
const MOST_ACCOUNTS = 10_000;

/** How many reports came for each mailbox lately that are about nothing that left from here. */
export class ReportPace {
  readonly #counts = new RecentMap<number, { since: number; count: number }>(MOST_ACCOUNTS);

  /** Counts one. False when it is too much. */
  take(account: number, now: number): boolean {
    const known = this.#counts.get(account);
    if (known === undefined || now - known.since >= HOUR_MS) {
      this.#counts.set(account, { since: now, count: 1 });
      return true;
    }
    known.count += 1;
    return known.count <= MOST;
  }
}
