const LONGEST_SCHEDULE_MS = 30 * 24 * 3_600_000;

/** When a message asked for at a time goes, ms UTC: null is now, and so is what is past; undefined is too far off. */
export function sendTime(asked: string | undefined, now: number): number | null | undefined {
  if (asked === undefined) return null;
  const at = Date.parse(asked);
  if (at <= now) return null;
  return at - now <= LONGEST_SCHEDULE_MS ? at : undefined;
}
