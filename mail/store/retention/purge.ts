import { command, lookup, type Stamp, type Write } from '../engine/types.ts';
import { purgeJournalCounts } from '../journal/journal-count.ts';
import { deleteFilterResult } from '../filter/filter-result.ts';
import { purgeLocalOrigin } from '../message/local-origin.ts';
import { type EntryRow, takeEntries } from '../message/entry.ts';
import { recordHidden } from '../message/visibility.ts';
import { recordTombstone } from '../account/type-state.ts';
import { DEFAULT_DAYS } from './rules.ts';
import { deleteTrainedSample } from '../filter/words.ts';

/** Rows of one slice. */
const SLICE = 200;

const DAY_MS = 24 * 3600_000;
/** Retention of expunged messages, for undo and idle sessions, unless the tenant set another one. */
export const EXPUNGED_RETENTION_MS = DEFAULT_DAYS.deleted * DAY_MS;
/** Retention of attempts and journal lines. */
export const HISTORY_RETENTION_MS = 90 * 24 * 3600_000;
/** Retention of tombstones; JMAP clients that are offline longer reload everything. */
export const TOMBSTONE_RETENTION_MS = 90 * 24 * 3600_000;

/** Deleted mailboxes that still have messages; `account` null: of all accounts. */
export const deletedMailboxes = lookup(
  'deleted-mailboxes',
  (rx, { account }: { account: number | null }): Promise<{ id: number; account_id: number }[]> =>
    rx.all(
      `SELECT id, account_id FROM mailbox WHERE deleted_at IS NOT NULL AND total > 0 AND account_id = ifnull(?, account_id)
       LIMIT 100`,
      account,
    ),
);

/** Removes a slice of messages from a deleted mailbox. Returns the number left. */
export const purgeDeletedFolder = command(
  'purge-deleted-folder',
  async (tx, input: { account: number; mailbox: number }, stamp): Promise<number> => {
    const rows = await tx.all<EntryRow>(
      `SELECT uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry WHERE mailbox_id = ? ORDER BY uid LIMIT ?`,
      input.mailbox,
      SLICE,
    );
    if (rows.length > 0) {
      await recordHidden(
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

/** Result of one slice of a purge. */
export interface PurgedSlice {
  /** Blob files to remove. */
  files: string[];
  /** Messages that were deleted. */
  emails: number;
  more: boolean;
}

/**
 * Purges a slice of entries that were expunged before `before`, which each tenant's own retention moves. They become
 * ranges of vanished UIDs, and a message without other entries is deleted with its blob. Accounts under legal hold are left
 * alone. Returns blob files to remove, and whether there is more.
 */
export const purgeExpunged = command(
  'purge-expunged',
  async (tx, input: { before: number }, stamp): Promise<PurgedSlice> => {
    const rows = await tx.all<{ mailbox_id: number; uid: number; email_id: number; modseq: number }>(
      `SELECT x.mailbox_id, x.uid, x.email_id, x.modseq FROM expunged x
         JOIN mailbox b ON b.id = x.mailbox_id JOIN account a ON a.id = b.account_id
         LEFT JOIN retention_setting s ON s.tenant = a.tenant
       WHERE x.at < ?1 + ?3 * max(0, ?4 - (SELECT ifnull(min(deleted_days), ?4) FROM retention_setting))
         AND x.at < ?1 + iif(x.at = 0, 1, ?3 * (?4 - ifnull(s.deleted_days, ?4)))
         AND NOT EXISTS (SELECT 1 FROM legal_hold h WHERE h.account_id = b.account_id)
       ORDER BY x.at LIMIT ?2`,
      input.before,
      SLICE,
      DAY_MS,
      DEFAULT_DAYS.deleted,
    );
    const purged: PurgedSlice = { files: [], emails: 0, more: rows.length === SLICE };
    for (const row of rows) {
      await tx.run('DELETE FROM expunged WHERE mailbox_id = ? AND uid = ?', row.mailbox_id, row.uid);
      await vanish(tx, row);
      const file = await purgeEmail(tx, row.email_id, stamp);
      if (file !== undefined) purged.emails++;
      if (typeof file === 'string') purged.files.push(file);
    }
    return purged;
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

interface PurgedEmail extends Record<string, number> {
  blob_id: number;
  account_id: number;
  thread_id: number;
  created_modseq: number;
  hidden: number;
}

/** Deletes an email that is in no mailbox. Returns its file, null if it has none, undefined if it stays. */
async function purgeEmail(tx: Write, id: number, stamp: Stamp): Promise<string | null | undefined> {
  const row = await tx.get<PurgedEmail>(
    `DELETE FROM email WHERE id = ? AND NOT EXISTS (SELECT 1 FROM entry WHERE email_id = email.id)
       AND NOT EXISTS (SELECT 1 FROM expunged WHERE email_id = email.id)
     RETURNING blob_id, account_id, thread_id, created_modseq, ifnull(visibility_modseq, modseq) AS hidden`,
    id,
  );
  if (row === undefined) return undefined;
  await tx.run('DELETE FROM email_meta_v1 WHERE email_id = ?', id);
  await deleteFilterResult(tx, id);
  await deleteTrainedSample(tx, id);
  await purgeLocalOrigin(tx, id);
  await deleteReadAuthor(tx, row.account_id, id);
  await tx.run('DELETE FROM agent_quarantine WHERE email_id = ?', id);
  await tx.run('DELETE FROM imported_email WHERE email_id = ?', id);
  await tx.run('DELETE FROM snooze WHERE email_id = ?', id);
  await tx.run('UPDATE canary SET email_id = NULL WHERE email_id = ?', id);
  const was = { id, thread: row.thread_id, created: row.created_modseq };
  await recordTombstone(tx, row.account_id, 'Email', was, row.hidden, stamp);
  return (await collectBlob(tx, row.blob_id)) ?? null;
}

/**
 * Takes the address of an author out of what agents have read, where no index has the message alone. That it was read stays
 * for its day: a taint outlives the message, or an outsider's mail that deletes itself would leave none.
 */
async function deleteReadAuthor(tx: Write, account: number, email: number): Promise<void> {
  await tx.run(
    `UPDATE untrusted_read SET author = '' WHERE email_id = ?2 AND reader IN
       (SELECT x.reader FROM account a CROSS JOIN tainted_reader x ON x.tenant = a.tenant WHERE a.id = ?1)`,
    account,
    email,
  );
}

/** Deletes an unreferenced blob; decided in the writer, so that no reference can be added meanwhile. */
export async function collectBlob(tx: Write, id: number): Promise<string | undefined> {
  const row = await tx.get<{ file: string | null }>(
    `DELETE FROM blob WHERE id = ? AND NOT EXISTS (SELECT 1 FROM email WHERE blob_id = blob.id)
       AND NOT EXISTS (SELECT 1 FROM submission WHERE blob_id = blob.id)
       AND NOT EXISTS (SELECT 1 FROM jmap_upload WHERE blob_id = blob.id) RETURNING file`,
    id,
  );
  if (row !== undefined) await tx.run('DELETE FROM message_index WHERE blob_id = ?', id);
  return row?.file ?? undefined;
}

/** Purges a slice of old attempts and journal lines. */
export const purgeHistory = command('purge-history', async (tx, input: { before: number }): Promise<boolean> => {
  const journal = await tx.run(
    // Ids ascend with time, so the oldest rows come first without an index of times, which would cost every message a
    // page. The last line stays, or ids would restart below the positions of journal readers.
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
  const counts = await purgeJournalCounts(tx, input.before, SLICE);
  return [journal.changes, keys.changes, attempts.changes, counts].includes(SLICE);
});

/** Purges a slice of tombstones older than `before`; older states then yield cannotCalculateChanges. */
export const purgeTombstones = command('purge-tombstones', async (tx, input: { before: number }): Promise<boolean> => {
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
       ON CONFLICT (account_id, type) DO UPDATE SET floor = max(type_state.floor, excluded.floor)`,
      account,
      type,
      modseq,
    );
  }
  return rows.length === SLICE;
});
