const DAY_MS = 86_400_000;
/** Agents' day begins at 06:00 UTC, so that the digest arrives in the morning. */
const BEGINS_MS = 6 * 3_600_000;
/** Clock corrections below this do not repeat a digest. */
const CORRECTED_MS = 3_600_000;

/** Number of the day of a time, ms UTC. */
export function digestDay(at: number): number {
  return Math.floor((at - BEGINS_MS) / DAY_MS);
}

/** Beginning of a day, ms UTC. */
export function beginOf(day: number): number {
  return day * DAY_MS + BEGINS_MS;
}

/** Last day whose digest may have been sent by now; later ones were sent by a wrong clock. */
export function newestDayAt(now: number): number {
  return digestDay(now + CORRECTED_MS);
}
