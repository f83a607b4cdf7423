import { unpackParts, type Part } from '../message/parts.ts';
import { command, query, type Stamp, type Write } from './engine/types.ts';

/** Notes that a message arrived for an account that announces. Part of the delivery's own commit. */
export async function noteArrival(tx: Write, account: number, email: number, stamp: Stamp): Promise<void> {
  await tx.run(
    'INSERT INTO arrival (account_id, email_id, at, next_at) VALUES (?, ?, ?, ?)',
    account,
    email,
    stamp.now,
    stamp.now,
  );
}

/** Begins to announce what arrives, or stops to; what waits then is forgotten. */
export async function announce(tx: Write, account: number, on: boolean): Promise<void> {
  await tx.run('UPDATE account SET announce = ? WHERE id = ?', Number(on), account);
  if (!on) await tx.run('DELETE FROM arrival WHERE account_id = ?', account);
}

export interface Arrival {
  id: number;
  account: number;
  email: number;
  at: number;
  attempts: number;
}

/** The oldest arrival of each account that announces; the others of it wait behind that one, however many they are. */
const HEADS = `FROM account c JOIN arrival a ON a.id =
       (SELECT min(b.id) FROM arrival b WHERE b.account_id = c.id AND b.dead_at IS NULL) WHERE c.announce = 1 AND c.state = 1`;

/** The oldest arrivals whose time has come, at most one of an account, none of the accounts in `not`. */
export const dueArrivals = query(
  'due-arrivals',
  (rx, input: { now: number; not: readonly number[]; limit: number }): Promise<Arrival[]> =>
    rx.all<{ id: number; account: number; email: number; at: number; attempts: number }>(
      `SELECT a.id, a.account_id AS account, a.email_id AS email, a.at, a.attempts ${HEADS}
       AND a.next_at <= ? AND c.id NOT IN (SELECT value FROM json_each(?)) ORDER BY a.id LIMIT ?`,
      input.now,
      JSON.stringify(input.not),
      input.limit,
    ),
);

/** When the next arrival is due of accounts that are not in `not`, ms UTC. */
export const nextArrival = query(
  'next-arrival',
  async (rx, input: { not: readonly number[] }): Promise<number | undefined> => {
    const row = await rx.get<{ at: number | null }>(
      `SELECT min(a.next_at) AS at ${HEADS} AND c.id NOT IN (SELECT value FROM json_each(?))`,
      JSON.stringify(input.not),
    );
    return row?.at ?? undefined;
  },
);

/** Ends an attempt: told, to be tried again at a time, or given up. */
export async function endArrival(
  tx: Write,
  input: { id: number; end: { kind: 'told' } | { kind: 'later'; at: number } | { kind: 'dead' } },
  stamp: Stamp,
): Promise<void> {
  if (input.end.kind === 'told') return void (await tx.run('DELETE FROM arrival WHERE id = ?', input.id));
  const later = input.end.kind === 'later' ? input.end.at : stamp.now;
  const dead = input.end.kind === 'dead' ? stamp.now : null;
  await tx.run(
    'UPDATE arrival SET attempts = attempts + 1, next_at = ?, dead_at = ? WHERE id = ?',
    later,
    dead,
    input.id,
  );
}

/** Announces a message again. */
export const announceAgain = command(
  'announce-again',
  async (
    tx,
    input: { account: number; email: number },
    stamp,
  ): Promise<{ kind: 'noted'; id: number } | { kind: 'missing' }> => {
    const there = await tx.get(
      'SELECT 1 AS there FROM email WHERE id = ? AND account_id = ?',
      input.email,
      input.account,
    );
    if (there === undefined) return { kind: 'missing' };
    await tx.run('DELETE FROM arrival WHERE account_id = ? AND email_id = ?', input.account, input.email);
    const { id } = await tx.run(
      'INSERT INTO arrival (account_id, email_id, at, next_at) VALUES (?, ?, ?, ?)',
      input.account,
      input.email,
      stamp.now,
      stamp.now,
    );
    // Who announces listens for the account, not for a mailbox.
    tx.touched(input.account, 0);
    return { kind: 'noted', id };
  },
);

export interface StoredMessage {
  blob: number;
  /** Octets of the blob. */
  length: number;
  receivedAt: number;
  parts: Part[];
}

/** Where the octets of a message are, and its parts. */
export const storedMessage = query(
  'stored-message',
  async (rx, input: { account: number; email: number }): Promise<StoredMessage | undefined> => {
    const row = await rx.get<{ blob_id: number; size: number; trace: string; received_at: number; parts: string }>(
      `SELECT e.blob_id, e.size, e.trace, e.received_at, m.parts FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE e.id = ? AND e.account_id = ?`,
      input.email,
      input.account,
    );
    return (
      row && {
        blob: row.blob_id,
        length: row.size - row.trace.length,
        receivedAt: row.received_at,
        parts: unpackParts(row.parts),
      }
    );
  },
);
