const DAY_MS = 86_400_000;
/** A day of agents begins at six in the morning UTC: the letter about it is there when people begin theirs. */
const BEGINS_MS = 6 * 3_600_000;
/** A clock that is set right by less at six in the morning sends no letter a second time. */
const CORRECTED_MS = 3_600_000;

/** The number of the day in which a moment is, ms UTC. */
export function dayOf(at: number): number {
  return Math.floor((at - BEGINS_MS) / DAY_MS);
}

/** When a day begins, ms UTC. */
export function beginOf(day: number): number {
  return day * DAY_MS + BEGINS_MS;
}

/** The last day of which a letter may have been sent at this moment, ms UTC; those of later ones a clock that ran ahead sent. */
export function newestDayAt(now: number): number {
  return dayOf(now + CORRECTED_MS);
}
