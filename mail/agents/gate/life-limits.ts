import type { Read, Write } from '../../store/engine/types.ts';

/** Total number of messages that a token may ever send. */
export interface LifetimeLimit {
  /** Public id of what is counted. */
  readonly of: string;
  readonly most: number;
}

/** First limit that one more message would exceed. */
export async function exceededLifetimeLimit(
  rx: Read,
  limits: readonly LifetimeLimit[],
): Promise<LifetimeLimit | undefined> {
  for (const limit of limits) {
    const row = await rx.get<{ sent: number }>('SELECT sent FROM narrow_token_use WHERE subject = ?', limit.of);
    if ((row?.sent ?? 0) >= limit.most) return limit;
  }
  return undefined;
}

/** Remaining messages of the tightest limit; null: no limit. */
export async function remainingLifetime(rx: Read, limits: readonly LifetimeLimit[]): Promise<number | null> {
  let remaining: number | null = null;
  for (const { of, most } of limits) {
    const row = await rx.get<{ sent: number }>('SELECT sent FROM narrow_token_use WHERE subject = ?', of);
    remaining = Math.min(remaining ?? Infinity, most - (row?.sent ?? 0));
  }
  return remaining;
}

/** Counts one message against all limits. */
export async function countLifetime(tx: Write, limits: readonly LifetimeLimit[]): Promise<void> {
  for (const { of } of limits) {
    await tx.run(
      'INSERT INTO narrow_token_use (subject, sent) VALUES (?, 1) ON CONFLICT (subject) DO UPDATE SET sent = narrow_token_use.sent + 1',
      of,
    );
  }
}
