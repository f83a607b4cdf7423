import { command, query, type Read, type Write } from '../engine/types.ts';
import { dropAllTotals } from './thread-total.ts';

/** Thread counters of one mailbox. RFC 8621 2. */
export interface ThreadCount extends Record<string, number> {
  id: number;
  threads: number;
  unread: number;
}

/** Resets the thread counters of all mailboxes, if a change affects more than one command may read. */
export async function resetThreadCounts(tx: Write, account: number, modseq: number): Promise<void> {
  await tx.run(
    `UPDATE mailbox SET threads = NULL, threads_unread = NULL, counts_modseq = ?
     WHERE account_id = ? AND deleted_at IS NULL`,
    modseq,
    account,
  );
  await dropAllTotals(tx, account);
  tx.touched(account);
}

/** Counts the threads of all mailboxes, with the account's mod-sequence. Reads every entry. */
export const countThreads = query(
  'count-threads',
  async (rx, input: { account: number }): Promise<{ modseq: number; counts: ThreadCount[] }> => {
    const row = await rx.get<{ modseq: number }>('SELECT modseq FROM account WHERE id = ?', input.account);
    return { modseq: row?.modseq ?? 0, counts: await counted(rx, input.account) };
  },
);

function counted(rx: Read, account: number): Promise<ThreadCount[]> {
  return rx.all<ThreadCount>(
    `WITH shown AS MATERIALIZED (
       SELECT m.id, n.thread_id AS thread, n.flags & 9 = 0 AS unread, m.role IS 'trash' AS trash
       FROM mailbox m JOIN entry n ON n.mailbox_id = m.id
       WHERE m.account_id = ? AND m.deleted_at IS NULL AND n.flags & 16 = 0),
     unread AS MATERIALIZED (SELECT DISTINCT thread, trash FROM shown WHERE unread)
     SELECT s.id, count(DISTINCT s.thread) AS threads, count(DISTINCT u.thread) AS unread
     FROM shown s LEFT JOIN unread u ON u.thread = s.thread AND u.trash = s.trash GROUP BY s.id`,
    account,
  );
}

/**
 * Stores the result of {@link countThreads}; `stale` if the account changed meanwhile. Without `found` it counts in the
 * command, for accounts that change constantly.
 */
export const storeThreadCounts = command(
  'store-thread-counts',
  async (
    tx,
    input: { account: number; found: { modseq: number; counts: readonly ThreadCount[] } | null },
  ): Promise<'kept' | 'stale'> => {
    const { account, found } = input;
    const row = await tx.get<{ modseq: number }>('SELECT modseq FROM account WHERE id = ?', account);
    if (found !== null && row?.modseq !== found.modseq) return 'stale';
    await tx.run(
      `UPDATE mailbox SET threads = ifnull(c.threads, 0), threads_unread = ifnull(c.unread, 0)
       FROM mailbox m LEFT JOIN (SELECT CAST(value ->> 'id' AS INTEGER) AS id, CAST(value ->> 'threads' AS INTEGER) AS threads,
           CAST(value ->> 'unread' AS INTEGER) AS unread FROM json_each(?2, '$')) c ON c.id = m.id
       WHERE m.id = mailbox.id AND mailbox.account_id = ?1 AND mailbox.threads IS NULL AND mailbox.deleted_at IS NULL`,
      account,
      JSON.stringify(found?.counts ?? (await counted(tx, account))),
    );
    return 'kept';
  },
);
