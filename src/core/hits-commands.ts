import { type LimitedNoticeKind, NOTICES } from '../../mail/delivery/notice.ts';
import type { Stamp, Write } from '../../mail/store/engine/types.ts';

const DAY_MS = 24 * 3_600_000;

/** At most `most` hits in any window of `windowMs`. */
export interface HitLimit {
  counter: string;
  /** Address or network that is limited; hashed if it identifies a person. */
  subject: string;
  most: number;
  windowMs: number;
}

/**
 * Counts a hit, or returns ms until the oldest leaves the window. Runs in the caller's transaction, so it is exact
 * under concurrency and survives a restart.
 */
export async function takeHit(tx: Write, allowance: HitLimit, stamp: Stamp): Promise<number> {
  const waitMs = await msUntilHit(tx, allowance, stamp);
  if (waitMs === 0) await addHit(tx, allowance, stamp);
  return waitMs;
}

/** Counts a notice to an address, given as its hash without +tag, or returns ms until another one is allowed. */
export function takeNoticeHit(tx: Write, kind: LimitedNoticeKind, subject: string, stamp: Stamp): Promise<number> {
  return takeHit(tx, { counter: kind, subject, most: NOTICES[kind].daily, windowMs: DAY_MS }, stamp);
}

/** Returns ms until another hit is allowed; 0: now. Counts nothing. */
export async function msUntilHit(
  tx: Write,
  { counter, subject, most, windowMs }: HitLimit,
  { now }: Stamp,
): Promise<number> {
  const from = now - windowMs;
  await tx.run('DELETE FROM rate_limit_hit WHERE counter = ? AND subject = ? AND at <= ?', counter, subject, from);
  const kept = await tx.all<{ at: number }>(
    'SELECT at FROM rate_limit_hit WHERE counter = ? AND subject = ? ORDER BY at DESC, nth DESC LIMIT ?',
    counter,
    subject,
    most,
  );
  const oldest = kept.at(-1);
  return kept.length >= most && oldest !== undefined ? Math.max(1, oldest.at + windowMs - now) : 0;
}

async function addHit(tx: Write, { counter, subject }: HitLimit, { now }: Stamp): Promise<void> {
  const last = await tx.get<{ nth: number | null }>(
    'SELECT max(nth) AS nth FROM rate_limit_hit WHERE counter = ? AND subject = ? AND at = ?',
    counter,
    subject,
    now,
  );
  const nth = (last?.nth ?? -1) + 1;
  await tx.run(
    'INSERT INTO rate_limit_hit (counter, subject, at, nth) VALUES (?, ?, ?, ?)',
    counter,
    subject,
    now,
    nth,
  );
}

/** Purges hits that are outside every window, 100 at a time: most subjects never come back. */
export async function purgeHits(tx: Write, before: number): Promise<number> {
  const { changes } = await tx.run(
    `DELETE FROM rate_limit_hit WHERE (counter, subject, at, nth) IN (SELECT counter, subject, at, nth FROM rate_limit_hit WHERE at < ? LIMIT 100)`,
    before,
  );
  return changes;
}
