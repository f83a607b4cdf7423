import type { Stamp, Write } from '../../mail/store/engine/types.ts';

/** At most `most` in any window of `windowMs`. */
export interface Allowance {
  counter: string;
  /** Of whom: an address or network; a hash where it is a person's. */
  subject: string;
  most: number;
  windowMs: number;
}

/**
 * Counts one, or answers in how many ms the oldest leaves the window. In the caller's transaction, so it is exact
 * however many ask at once, and a restart does not forget it.
 */
export async function takeHit(
  tx: Write,
  { counter, subject, most, windowMs }: Allowance,
  { now }: Stamp,
): Promise<number> {
  const from = now - windowMs;
  await tx.run('DELETE FROM hit WHERE counter = ? AND subject = ? AND at <= ?', counter, subject, from);
  const kept = await tx.all<{ at: number; nth: number }>(
    'SELECT at, nth FROM hit WHERE counter = ? AND subject = ? ORDER BY at DESC, nth DESC LIMIT ?',
    counter,
    subject,
    most,
  );
  const oldest = kept.at(-1);
  if (kept.length >= most && oldest !== undefined) return Math.max(1, oldest.at + windowMs - now);
  // The clock may have been set back: then the newest is not of this moment, and the number is free.
  const nth = Math.max(-1, ...kept.filter((row) => row.at === now).map((row) => row.nth)) + 1;
  await tx.run('INSERT INTO hit (counter, subject, at, nth) VALUES (?, ?, ?, ?)', counter, subject, now, nth);
  return 0;
}

/** Forgets what no window can hold any more, a slice at a time: most subjects never come back. */
export async function forgetHits(tx: Write, before: number): Promise<number> {
  const { changes } = await tx.run(
    `DELETE FROM hit WHERE (counter, subject, at, nth) IN (SELECT counter, subject, at, nth FROM hit WHERE at < ? LIMIT 100)`,
    before,
  );
  return changes;
}
