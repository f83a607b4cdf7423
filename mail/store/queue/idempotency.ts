import { type Read, query, type Stamp, type Write } from '../engine/types.ts';

/** Idempotency of a send request. */
export interface IdempotencyGuard {
  /** Public id of the sending credential, which scopes the key. */
  credential: string;
  key: string;
  /** SHA-256 of the request. */
  request: Uint8Array;
  /** Lifetime of the key, ms. */
  forMs: number;
  /** The key is a hash of the content: after cancellation of the first message an equal one may be sent. */
  byContent: boolean;
  /** The repetition is intended: send again and record it. */
  again: boolean;
}

export type SentBefore =
  | { kind: 'repeated'; trace: string }
  /** The key was used for another request. */
  | { kind: 'changed' };

/** Finds an earlier request of this credential with this key, and its trace. */
export async function findEarlierSend(
  rx: Read,
  guard: IdempotencyGuard | null,
  now: number,
): Promise<SentBefore | undefined> {
  if (guard === null || guard.again) return undefined;
  const row = await rx.get<{ request: Uint8Array; trace: string }>(
    'SELECT request, trace FROM idempotency WHERE credential = ? AND key = ? AND expires_at > ?',
    guard.credential,
    guard.key,
    now,
  );
  if (row === undefined) return undefined;
  const same = Buffer.from(row.request).equals(Buffer.from(guard.request));
  return same ? { kind: 'repeated', trace: row.trace } : { kind: 'changed' };
}

/**
 * {@link findEarlierSend} before the message is prepared. The command checks again, since two requests may be concurrent.
 */
export const findSentBefore = query(
  'find-idempotent-send',
  (rx, { guard, now }: { guard: IdempotencyGuard; now: number }) => findEarlierSend(rx, guard, now),
);

export async function rememberSent(tx: Write, guard: IdempotencyGuard, trace: string, { now }: Stamp): Promise<void> {
  await tx.run(
    `DELETE FROM idempotency WHERE (credential, key) IN
       (SELECT credential, key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT 50)`,
    now,
  );
  await tx.run(
    `INSERT INTO idempotency (credential, key, request, trace, by_content, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (credential, key) DO UPDATE SET request = excluded.request, trace = excluded.trace,
       expires_at = excluded.expires_at`,
    guard.credential,
    guard.key,
    guard.request,
    trace,
    Number(guard.byContent),
    now + guard.forMs,
  );
}

/** Deletes content-based keys of a cancelled message, so that it may be sent again; a caller's key stays used. */
export async function deleteContentKey(tx: Write, trace: string): Promise<void> {
  await tx.run('DELETE FROM idempotency WHERE trace = ? AND by_content = 1', trace);
}
