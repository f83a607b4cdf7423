const MAX_SCHEDULE_MS = 30 * 24 * 3_600_000;

/** Parses a send time, ms UTC. Null: now (also for past times). Undefined: more than 30 days ahead. */
export function sendTime(text: string | undefined, now: number): number | null | undefined {
  if (text === undefined) return null;
  const at = Date.parse(text);
  if (at <= now) return null;
  return at - now <= MAX_SCHEDULE_MS ? at : undefined;
}
