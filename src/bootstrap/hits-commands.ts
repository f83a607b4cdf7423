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
export async function takeHit(tx: Write, allowance: Allowance, stamp: Stamp): Promise<number> {
  const waitMs = await waitForHit(tx, allowance, stamp);
  if (waitMs === 0) await addHit(tx, allowance, stamp);
  return waitMs;
}

/** In how many ms one more would be within the allowance; 0: now. Counts nothing. */
export async function waitForHit(
  tx: Write,
  { counter, subject, most, windowMs }: Allowance,
  { now }: Stamp,
): Promise<number> {
  const from = now - windowMs;
  await tx.run('DELETE FROM hit WHERE counter = ? AND subject = ? AND at <= ?', counter, subject, from);
  const kept = await tx.all<{ at: number }>(
    'SELECT at FROM hit WHERE counter = ? AND subject = ? ORDER BY at DESC, nth DESC LIMIT ?',
    counter,
    subject,
    most,
  );
  const oldest = kept.at(-1);
  return kept.length >= most && oldest !== undefined ? Math.max(1, oldest.at + windowMs - now) : 0;
}

async function addHit(tx: Write, { counter, subject }: Allowance, { now }: Stamp): Promise<void> {
  const last = await tx.get<{ nth: number | null }>(
    'SELECT max(nth) AS nth FROM hit WHERE counter = ? AND subject = ? AND at = ?',
    counter,
    subject,
    now,
  );
  const nth = (last?.nth ?? -1) + 1;
  await tx.run('INSERT INTO hit (counter, subject, at, nth) VALUES (?, ?, ?, ?)', counter, subject, now, nth);
}

/** Forgets what no window can hold any more, a slice at a time: most subjects never come back. */
export async function forgetHits(tx: Write, before: number): Promise<number> {
  const { changes } = await tx.run(
    `DELETE FROM hit WHERE (counter, subject, at, nth) IN (SELECT counter, subject, at, nth FROM hit WHERE at < ? LIMIT 100)`,
    before,
  );
  return changes;
}
