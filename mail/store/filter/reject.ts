import { command, type Read, type Stamp, type Write } from '../engine/types.ts';
import { addMailbox } from '../mailbox/mailbox.ts';
import { type AddedEntry, entriesOf, removeEntries } from '../message/entry.ts';

const NAMES = ['Rejects', 'Rejects (refused mail)'];
const DAY_MS = 86_400_000;
/** Retention of rejected mail. */
const REJECT_RETENTION_MS = 7 * DAY_MS;
/** Limit for one account: a flood of rejected mail evicts the oldest. */
const MAX_REJECTS = 200;
const MAX_REJECT_OCTETS = 50_000_000;
/** Quota share above which rejected mail is not stored. */
const MAX_QUOTA_SHARE = 0.9;
const SLICE = 100;

/**
 * The mailbox for rejected mail, created on demand. Undefined if a person uses its names, or a message of `size` octets
 * would exceed the quota share.
 */
export async function rejectsMailbox(
  tx: Write,
  { account, size }: { account: number; size: number },
  stamp: Stamp,
): Promise<number | undefined> {
  if (size > MAX_REJECT_OCTETS || !(await hasRoom(tx, account, size))) return undefined;
  const known = await tx.get<{ id: number }>(
    `SELECT m.id FROM rejects_mailbox r JOIN mailbox m ON m.id = r.mailbox_id
     WHERE r.account_id = ? AND m.account_id = r.account_id AND m.deleted_at IS NULL`,
    account,
  );
  if (known !== undefined) return known.id;
  for (const name of NAMES) {
    if (await isTaken(tx, account, name)) continue;
    const id = await addMailbox(tx, account, 0, name, null, stamp);
    await tx.run(
      `INSERT INTO rejects_mailbox (account_id, mailbox_id) VALUES (?1, ?2)
       ON CONFLICT (account_id) DO UPDATE SET mailbox_id = ?2`,
      account,
      id,
    );
    return id;
  }
  return undefined;
}

async function hasRoom(rx: Read, account: number, size: number): Promise<boolean> {
  // PostgreSQL takes a value that is multiplied with an integer for an integer, and refuses a fraction.
  const full = await rx.get(
    `SELECT 1 AS yes FROM account WHERE id = ?1
       AND (used_bytes + ?2 > quota_bytes * CAST(?3 AS REAL) OR used_count + 1 > quota_count * CAST(?3 AS REAL))`,
    account,
    size,
    MAX_QUOTA_SHARE,
  );
  return full === undefined;
}

async function isTaken(rx: Read, account: number, name: string): Promise<boolean> {
  const sql = 'SELECT 1 AS taken FROM mailbox WHERE account_id = ? AND parent_id = 0 AND name = ?';
  return (await rx.get(sql, account, name)) !== undefined;
}

/** Records a stored reject, and purges the oldest above the limit. */
export async function recordReject(
  tx: Write,
  what: { account: number; email: number; mailbox: number; placed: AddedEntry },
  stamp: Stamp,
): Promise<void> {
  const { account, email, mailbox, placed } = what;
  await tx.run(
    'INSERT INTO reject (email_id, account_id, mailbox_id, uid, at) VALUES (?, ?, ?, ?, ?)',
    email,
    account,
    mailbox,
    placed.uid,
    stamp.now,
  );
  const over = await tx.all<RejectRow>(
    // Messages that a person moved elsewhere count too, until their retention ends.
    `SELECT email_id, account_id, mailbox_id, uid FROM (
       SELECT r.*, row_number() OVER newest AS number, sum(e.size) OVER newest AS octets
       FROM reject r LEFT JOIN email e ON e.id = r.email_id WHERE r.account_id = ?1
       WINDOW newest AS (ORDER BY r.at DESC, r.email_id DESC)
     ) WHERE number > ?2 OR octets > ?3`,
    account,
    MAX_REJECTS,
    MAX_REJECT_OCTETS,
  );
  for (const row of over) await deleteReject(tx, row, stamp);
}

/** Purges a slice of expired rejected mail. Returns whether there may be more. */
export const purgeRejects = command('purge-rejects', async (tx, _: undefined, stamp): Promise<boolean> => {
  const old = await tx.all<RejectRow>(
    'SELECT email_id, account_id, mailbox_id, uid FROM reject WHERE at < ? ORDER BY at LIMIT ? + 0',
    stamp.now - REJECT_RETENTION_MS,
    SLICE,
  );
  for (const row of old) await deleteReject(tx, row, stamp);
  return old.length === SLICE;
});

interface RejectRow extends Record<string, number> {
  email_id: number;
  account_id: number;
  mailbox_id: number;
  uid: number;
}

/** Deletes the original entry only: a message that a person moved stays. */
async function deleteReject(
  tx: Write,
  { email_id: email, account_id: account, mailbox_id: mailbox, uid }: RejectRow,
  stamp: Stamp,
): Promise<void> {
  const rows = await entriesOf(tx, mailbox, [uid]);
  if (rows.length > 0) await removeEntries(tx, account, mailbox, rows, stamp);
  await tx.run('DELETE FROM reject WHERE email_id = ?', email);
}
