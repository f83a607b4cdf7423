import type { Read, Stamp, Write } from '../engine/types.ts';
import { DELETED, flagCounts, kwText, type StoredFlags } from '../mailbox/flags.ts';
import { joinThread, type JmapCounts } from './thread-total.ts';
import type { Email } from './message.ts';
import { markNeverVisible, snapshotThreads, updateThreads } from './visibility.ts';

/** UID and mod-sequence of a new entry. */
export interface AddedEntry {
  uid: number;
  uidValidity: number;
  modseq: number;
}

/** Adds an email that was created in this command to a mailbox of its account under the next UID. */
export async function addEntry(
  tx: Write,
  mailbox: number,
  email: Email,
  flags: StoredFlags,
  stamp: Stamp,
): Promise<AddedEntry> {
  const modseq = await tx.nextModseq(email.account);
  const counts = await joinThread(tx, mailbox, email, flags.bits, modseq);
  return placeEntry(tx, mailbox, email, flags, stamp, counts);
}

/** The command updates JMAP's counters itself. */
const UNCOUNTED: JmapCounts = { emails: 0, unread: 0, threads: 0, unreadThreads: 0 };

/** {@link addEntry} for commands that update the threads themselves, and for emails of any age. */
export async function placeEntry(
  tx: Write,
  mailbox: number,
  email: Email,
  flags: StoredFlags,
  stamp: Stamp,
  counts = UNCOUNTED,
): Promise<AddedEntry> {
  const placed = await placeEntries(tx, mailbox, email.account, [{ email, flags }], stamp, counts);
  const [uid] = placed.uids;
  if (uid === undefined) throw new Error('no entry was placed');
  return { uid, uidValidity: placed.uidValidity, modseq: placed.modseq };
}

/** An email that gets an entry, with its flags. */
export interface PlacedEmail {
  email: Email;
  flags: StoredFlags;
}

/** Adds emails of one account to a mailbox, under ascending UIDs; for commands that update the threads themselves. */
export async function placeEntries(
  tx: Write,
  mailbox: number,
  account: number,
  emails: readonly PlacedEmail[],
  stamp: Stamp,
  counts = UNCOUNTED,
): Promise<{ uids: number[]; uidValidity: number; modseq: number }> {
  const modseq = await tx.nextModseq(account);
  const sum = { unseen: 0, deleted: 0, bytes: 0 };
  for (const { email, flags } of emails) {
    const one = flagCounts(flags.bits);
    sum.unseen += one.unseen;
    sum.deleted += one.deleted;
    sum.bytes += email.size;
  }
  const box = await tx.get<{ uidnext: number; uidvalidity: number }>(
    `UPDATE mailbox SET uidnext = uidnext + ?9, highestmodseq = ?1, total = total + ?9, unseen = unseen + ?2,
       deleted = deleted + ?3, bytes = bytes + ?4, j_total = j_total + ?5, j_unread = j_unread + ?6,
       threads = threads + ?10, threads_unread = threads_unread + ?11, counts_modseq = iif(?5 <> 0, ?1, counts_modseq)
     WHERE id = ?7 AND account_id = ?8 RETURNING uidnext, uidvalidity`,
    modseq,
    sum.unseen,
    sum.deleted,
    sum.bytes,
    counts.emails,
    counts.unread,
    mailbox,
    account,
    emails.length,
    counts.threads,
    counts.unreadThreads,
  );
  if (box === undefined) throw new Error(`mailbox ${mailbox} does not belong to account ${account}`);
  const first = box.uidnext - emails.length;
  for (const [at, placed] of emails.entries()) await insertEntry(tx, mailbox, first + at, placed, { modseq, stamp });
  tx.touched(account, mailbox);
  return { uids: emails.map((_, at) => first + at), uidValidity: box.uidvalidity, modseq };
}

async function insertEntry(
  tx: Write,
  mailbox: number,
  uid: number,
  { email, flags }: PlacedEmail,
  { modseq, stamp }: { modseq: number; stamp: Stamp },
): Promise<void> {
  await tx.send(
    `INSERT INTO entry (mailbox_id, uid, email_id, flags, kw, modseq, received_at, thread_id, size, save_at, entered_modseq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    mailbox,
    uid,
    email.id,
    flags.bits,
    kwText(flags),
    modseq,
    email.receivedAt,
    email.threadId,
    email.size,
    stamp.now,
    modseq,
  );
  if (flagCounts(flags.bits).deleted === 1) await markNeverVisible(tx, email.id, modseq);
}

/** An entry for commands that change it. */
export interface EntryRow extends Record<string, number | string | null> {
  uid: number;
  email_id: number;
  flags: number;
  kw: string | null;
  modseq: number;
  received_at: number;
  thread_id: number;
  size: number;
}

export function entriesOf(tx: Read, mailbox: number, uids: readonly number[]): Promise<EntryRow[]> {
  return tx.all<EntryRow>(
    `SELECT uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry
     WHERE mailbox_id = ? AND uid IN (SELECT value FROM json_each(?)) ORDER BY uid`,
    mailbox,
    JSON.stringify(uids),
  );
}

/**
 * Removes entries from a mailbox. Their data stays in `expunged`, for idle sessions and undo. Emails without entries no
 * longer count against the quota.
 */
export async function removeEntries(
  tx: Write,
  account: number,
  mailbox: number,
  rows: readonly EntryRow[],
  stamp: Stamp,
): Promise<number> {
  const before = await snapshotThreads(
    tx,
    rows.map((row) => row.thread_id),
  );
  const modseq = await takeEntries(tx, account, mailbox, rows, stamp);
  await updateThreads(tx, before, modseq);
  return modseq;
}

/** {@link removeEntries} for commands that update the threads themselves. */
export async function takeEntries(
  tx: Write,
  account: number,
  mailbox: number,
  rows: readonly EntryRow[],
  stamp: Stamp,
): Promise<number> {
  const modseq = await detachEntries(tx, account, mailbox, rows, stamp);
  await releaseQuota(tx, account, rows);
  return modseq;
}

/** {@link takeEntries} for emails that stay in the account: they count against the quota as before. */
export async function detachEntries(
  tx: Write,
  account: number,
  mailbox: number,
  rows: readonly EntryRow[],
  stamp: Stamp,
): Promise<number> {
  const modseq = await tx.nextModseq(account);
  const uids = JSON.stringify(rows.map((row) => row.uid));
  await tx.run(
    `INSERT INTO expunged (mailbox_id, uid, email_id, flags, kw, received_at, modseq, at)
     SELECT mailbox_id, uid, email_id, flags, kw, received_at, CAST(? AS INTEGER), CAST(? AS INTEGER) FROM entry
     WHERE mailbox_id = ? AND uid IN (SELECT value FROM json_each(?))`,
    modseq,
    stamp.now,
    mailbox,
    uids,
  );
  await tx.run('DELETE FROM entry WHERE mailbox_id = ? AND uid IN (SELECT value FROM json_each(?))', mailbox, uids);
  await updateCounters(
    tx,
    mailbox,
    modseq,
    rows.map((row) => ({ bits: row.flags, size: row.size, sign: -1 })),
  );
  tx.touched(account, mailbox);
  return modseq;
}

/** Emails without entries no longer count against the quota. */
async function releaseQuota(tx: Write, account: number, rows: readonly EntryRow[]): Promise<void> {
  const sizes = new Map(rows.map((row) => [row.email_id, row.size]));
  const left = await tx.all<{ id: number }>(
    `SELECT value AS id FROM json_each(?) j
     WHERE NOT EXISTS (SELECT 1 FROM entry n INDEXED BY entry_email WHERE n.email_id = j.value)`,
    JSON.stringify([...sizes.keys()]),
  );
  if (left.length === 0) return;
  const octets = left.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0);
  await tx.run(
    'UPDATE account SET used_bytes = used_bytes - ?, used_count = used_count - ? WHERE id = ?',
    octets,
    left.length,
    account,
  );
}

/** Updates a mailbox's IMAP counters. */
export async function updateCounters(
  tx: Write,
  mailbox: number,
  modseq: number,
  changes: readonly { bits: number; size: number; sign: 1 | -1 }[],
): Promise<void> {
  const sum = { total: 0, unseen: 0, deleted: 0, bytes: 0 };
  for (const { bits, size, sign } of changes) {
    const one = flagCounts(bits);
    sum.total += sign;
    sum.bytes += sign * size;
    sum.unseen += sign * one.unseen;
    sum.deleted += sign * one.deleted;
  }
  await tx.run(
    `UPDATE mailbox SET highestmodseq = ?, total = total + ?, unseen = unseen + ?, deleted = deleted + ?,
       bytes = bytes + ? WHERE id = ?`,
    modseq,
    sum.total,
    sum.unseen,
    sum.deleted,
    sum.bytes,
    mailbox,
  );
}

/** Reports whether \Deleted is set. */
export function isDeleted(row: { flags: number }): boolean {
  return (row.flags & DELETED) !== 0;
}
