import { type Read, query, type Stamp, type Write } from './engine/types.ts';

/** What makes a request that comes again the same one. */
export interface Guard {
  /** Public id of the credential that sends: nobody's keys meet another's. */
  credential: string;
  key: string;
  /** SHA-256 of what is asked. */
  request: Uint8Array;
  /** The key is good for so long, ms. */
  forMs: number;
  /** Nobody gave the key: what looks the same may be another message, once the first was taken back. */
  guess: boolean;
  /** It is meant: sent again, and remembered. */
  again: boolean;
}

export type SentBefore =
  | { kind: 'repeated'; trace: string }
  /** The key was used for another request. */
  | { kind: 'changed' };

/** Whether this credential sent this before, and under which trace. */
export async function sentBefore(rx: Read, guard: Guard | null, now: number): Promise<SentBefore | undefined> {
  if (guard === null || guard.again) return undefined;
  const row = await rx.get<{ request: Uint8Array; trace: string }>(
    'SELECT request, trace FROM sent_before WHERE credential = ? AND key = ? AND expires_at > ?',
    guard.credential,
    guard.key,
    now,
  );
  if (row === undefined) return undefined;
  const same = Buffer.from(row.request).equals(Buffer.from(guard.request));
  return same ? { kind: 'repeated', trace: row.trace } : { kind: 'changed' };
}

/** {@link sentBefore} before anything is made ready. The command asks again: two may come at once. */
export const findSentBefore = query('find-sent-before', (rx, { guard, now }: { guard: Guard; now: number }) =>
  sentBefore(rx, guard, now),
);

export async function rememberSent(tx: Write, guard: Guard, trace: string, { now }: Stamp): Promise<void> {
  await tx.run(
    `DELETE FROM sent_before WHERE (credential, key) IN
       (SELECT credential, key FROM sent_before WHERE expires_at <= ? ORDER BY expires_at LIMIT 50)`,
    now,
  );
  await tx.run(
    `INSERT INTO sent_before (credential, key, request, trace, guess, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (credential, key) DO UPDATE SET request = excluded.request, trace = excluded.trace,
       expires_at = excluded.expires_at`,
    guard.credential,
    guard.key,
    guard.request,
    trace,
    Number(guard.guess),
    now + guard.forMs,
  );
}

/** What was taken back before it left may be asked for again; a key that was given stays used. */
export async function forgetGuess(tx: Write, trace: string): Promise<void> {
  await tx.run('DELETE FROM sent_before WHERE trace = ? AND guess = 1', trace);
}
