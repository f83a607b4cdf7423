import type { Read, Write } from './engine/types.ts';

/** Messages in the whole life of something. */
export interface LifeLimit {
  /** What is counted. */
  readonly of: string;
  readonly most: number;
}

/** The first limit that one more message is too much for. */
export async function overLife(rx: Read, limits: readonly LifeLimit[]): Promise<LifeLimit | undefined> {
  for (const limit of limits) {
    const row = await rx.get<{ sent: number }>('SELECT sent FROM narrow_use WHERE subject = ?', limit.of);
    if ((row?.sent ?? 0) >= limit.most) return limit;
  }
  return undefined;
}

/** How many messages are left of the limit that is used up first; null: no limit. */
export async function lifeLeft(rx: Read, limits: readonly LifeLimit[]): Promise<number | null> {
  let left: number | null = null;
  for (const { of, most } of limits) {
    const row = await rx.get<{ sent: number }>('SELECT sent FROM narrow_use WHERE subject = ?', of);
    left = Math.min(left ?? Infinity, most - (row?.sent ?? 0));
  }
  return left;
}

/** Counts one message for all of them. */
export async function countLife(tx: Write, limits: readonly LifeLimit[]): Promise<void> {
  for (const { of } of limits) {
    await tx.run(
      'INSERT INTO narrow_use (subject, sent) VALUES (?, 1) ON CONFLICT (subject) DO UPDATE SET sent = sent + 1',
      of,
    );
  }
}
