import { command, query, type Stamp, type Write } from './engine/types.ts';
import { forgetCounts } from './journal-count.ts';
import { forgetJudged } from './judged.ts';
import { forgetWrittenHere } from './written-here.ts';
import { type EntryRow, takeEntries } from './message.ts';
import { settleGone } from './shown.ts';
import { bury } from './type-state.ts';
import { forgetLearned } from './words.ts';

/** Rows of one slice. */
const SLICE = 200;

/** Expunged messages are kept this long: people undo, sessions sleep. */
export const KEEP_EXPUNGED_MS = 30 * 24 * 3600_000;
/** Attempts and journal lines are kept this long. */
export const KEEP_HISTORY_MS = 90 * 24 * 3600_000;
/** What was destroyed is told to JMAP clients for this long; who slept longer fetches everything again. */
export const KEEP_TOMBSTONES_MS = 90 * 24 * 3600_000;

/** Mailboxes that were deleted and still hold messages. */
export const goneMailboxes = query('gone-mailboxes', (rx): Promise<{ id: number; account_id: number }[]> =>
  rx.all('SELECT id, account_id FROM mailbox WHERE gone_at IS NOT NULL AND total > 0 LIMIT 100'),
);

/** Takes a slice of messages out of a deleted mailbox. Answers how many are left. */
export const emptyGoneMailbox = command(
  'empty-gone-mailbox',
  async (tx, input: { account: number; mailbox: number }, stamp): Promise<number> => {
    const rows = await tx.all<EntryRow>(
      `SELECT uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry WHERE mailbox_id = ? ORDER BY uid LIMIT ?`,
      input.mailbox,
      SLICE,
    );
    if (rows.length > 0) {
      await settleGone(
        tx,
        input.mailbox,
        rows.map((row) => row.email_id),
      );
      await takeEntries(tx, input.account, input.mailbox, rows, stamp);
    }
    const left = await tx.get<{ total: number }>('SELECT total FROM mailbox WHERE id = ?', input.mailbox);
    return rows.length === 0 ? 0 : (left?.total ?? 0);
  },
);

/**
 * Forgets a slice of what was expunged before `before`: its place becomes a range of vanished UIDs, and a message that
 * stands nowhere any more goes with its blob. Answers the blob files to remove, and whether there is more.
 */
export const forgetExpunged = command(
  'forget-expunged',
  async (tx, input: { before: number }, stamp): Promise<{ files: string[]; more: boolean }> => {
    const rows = await tx.all<{ mailbox_id: number; uid: number; email_id: number; modseq: number }>(
      'SELECT mailbox_id, uid, email_id, modseq FROM expunged WHERE at < ? ORDER BY at LIMIT ?',
      input.before,
      SLICE,
    );
    const files: string[] = [];
    for (const row of rows) {
      await tx.run('DELETE FROM expunged WHERE mailbox_id = ? AND uid = ?', row.mailbox_id, row.uid);
      await vanish(tx, row);
      const file = await forgetEmail(tx, row.email_id, stamp);
      if (file !== undefined) files.push(file);
    }
    return { files, more: rows.length === SLICE };
  },
);

async function vanish(tx: Write, row: { mailbox_id: number; uid: number; modseq: number }): Promise<void> {
  const grown = await tx.run(
    'UPDATE vanished SET uid_hi = ? WHERE mailbox_id = ? AND modseq = ? AND uid_hi = ?',
    row.uid,
    row.mailbox_id,
    row.modseq,
    row.uid - 1,
  );
  if (grown.changes > 0) return;
  await tx.run(
    'INSERT INTO vanished (mailbox_id, modseq, uid_lo, uid_hi) VALUES (?, ?, ?, ?)',
    row.mailbox_id,
    row.modseq,
    row.uid,
    row.uid,
  );
}

interface Forgotten extends Record<string, number> {
  blob_id: number;
  account_id: number;
  thread_id: number;
  created_modseq: number;
  hidden: number;
}

async function forgetEmail(tx: Write, id: number, stamp: Stamp): Promise<string | undefined> {
  const row = await tx.get<Forgotten>(
    `DELETE FROM email WHERE id = ? AND NOT EXISTS (SELECT 1 FROM entry WHERE email_id = email.id)
       AND NOT EXISTS (SELECT 1 FROM expunged WHERE email_id = email.id)
     RETURNING blob_id, account_id, thread_id, created_modseq, ifnull(shown_modseq, modseq) AS hidden`,
    id,
  );
  if (row === undefined) return undefined;
  await tx.run('DELETE FROM email_meta WHERE email_id = ?', id);
  await forgetJudged(tx, id);
  await forgetLearned(tx, id);
  await forgetWrittenHere(tx, id);
  await tx.run('DELETE FROM withheld WHERE email_id = ?', id);
  await tx.run('UPDATE canary SET email_id = NULL WHERE email_id = ?', id);
  const was = { id, thread: row.thread_id, created: row.created_modseq };
  await bury(tx, row.account_id, 'Email', was, row.hidden, stamp);
  return collectBlob(tx, row.blob_id);
}

/** Removes a blob that nothing names any more; decided here, in the writer, where nobody can name it meanwhile. */
export async function collectBlob(tx: Write, id: number): Promise<string | undefined> {
  const row = await tx.get<{ file: string | null }>(
    `DELETE FROM blob WHERE id = ? AND NOT EXISTS (SELECT 1 FROM email WHERE blob_id = blob.id)
       AND NOT EXISTS (SELECT 1 FROM submission WHERE blob_id = blob.id)
       AND NOT EXISTS (SELECT 1 FROM jmap_upload WHERE blob_id = blob.id) RETURNING file`,
    id,
  );
  return row?.file ?? undefined;
}

/** Forgets a slice of old history. */
export const forgetHistory = command('forget-history', async (tx, input: { before: number }): Promise<boolean> => {
  const journal = await tx.run(
    // Ids grow with time: the oldest are looked at first, and an index of times would cost every message a page. The
    // last line stays, or ids would begin anew behind those who follow them.
    `DELETE FROM journal WHERE id IN (SELECT id FROM (SELECT id, at FROM journal ORDER BY id LIMIT ?2) WHERE at < ?1)
       AND id < (SELECT max(id) FROM journal)`,
    input.before,
    SLICE,
  );
  const keys = await tx.run(
    'DELETE FROM journal_key WHERE id IN (SELECT id FROM (SELECT id, at FROM journal_key ORDER BY id LIMIT ?2) WHERE at < ?1)',
    input.before,
    SLICE,
  );
  const attempts = await tx.run(
    'DELETE FROM attempt WHERE id IN (SELECT id FROM attempt WHERE at < ? ORDER BY at LIMIT ?)',
    input.before,
    SLICE,
  );
  const counts = await forgetCounts(tx, input.before, SLICE);
  return [journal.changes, keys.changes, attempts.changes, counts].includes(SLICE);
});

/** Forgets a slice of what was destroyed before `before`; states from before that are no longer understood. */
export const forgetTombstones = command(
  'forget-tombstones',
  async (tx, input: { before: number }): Promise<boolean> => {
    const rows = await tx.all<{ account_id: number; type: string; modseq: number; object_id: number }>(
      'SELECT account_id, type, modseq, object_id FROM tombstone WHERE at < ? ORDER BY at LIMIT ?',
      input.before,
      SLICE,
    );
    for (const { account_id: account, type, modseq, object_id: object } of rows) {
      await tx.run(
        'DELETE FROM tombstone WHERE account_id = ? AND type = ? AND modseq = ? AND object_id = ?',
        account,
        type,
        modseq,
        object,
      );
      await tx.run(
        `INSERT INTO type_state (account_id, type, floor) VALUES (?, ?, ?)
       ON CONFLICT (account_id, type) DO UPDATE SET floor = max(floor, excluded.floor)`,
        account,
        type,
        modseq,
      );
    }
    return rows.length === SLICE;
  },
);
