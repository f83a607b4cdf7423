import type { MessageIndex } from '../message/index-types.ts';
import { DELETED, kwText, type StoredFlags, weight } from './flags.ts';
import type { Stamp, Write } from './engine/types.ts';
import { hideFromBirth, lookAtThreads, settleThreads } from './shown.ts';

/** Ids of an account's rows start here, so that they lie together; safe integers up to 2,097,151 accounts. */
const ACCOUNT_SPAN = 2 ** 32;
/** More emails than this begin another thread: what one change looks at has a bound. */
const MOST_IN_THREAD = 500;

/** A message as an account has it, before or after it stands in mailboxes. */
export interface Email {
  id: number;
  account: number;
  threadId: number;
  /** Octets of trace and blob. */
  size: number;
  receivedAt: number;
  /** Nothing else was ever in its thread, so no neighbours have to be counted again. */
  alone?: boolean;
}

/**
 * Adds a message to an account. `trace` is header lines of this recipient's own, which stand before the blob; `by` is the
 * agent that wrote it.
 */
export async function addEmail(
  tx: Write,
  what: {
    account: number;
    blob: number;
    index: MessageIndex;
    trace: string;
    receivedAt: number;
    by?: string | null;
  },
): Promise<Email> {
  const { account, blob, index, trace, receivedAt, by = null } = what;
  const modseq = await tx.nextModseq(account);
  const size = Buffer.byteLength(trace, 'latin1') + index.size;
  const seq = await tx.get<{ email: number; thread: number }>(
    `UPDATE account SET email_seq = email_seq + 1, thread_seq = thread_seq + 1, used_bytes = used_bytes + ?, used_count = used_count + 1
     WHERE id = ? RETURNING email_seq AS email, thread_seq AS thread`,
    size,
    account,
  );
  if (seq === undefined) throw new Error(`account ${account} does not exist`);
  const id = account * ACCOUNT_SPAN + seq.email;
  const fresh = account * ACCOUNT_SPAN + seq.thread;
  const threadId = await threadOf(tx, account, index, fresh);
  await tx.run(
    `INSERT INTO email (id, account_id, thread_id, blob_id, trace, size, received_at, sent_at, sent_day, attach, subj,
       from_k, to_k, cc_k, from_d, to_d, created_modseq, modseq, made_by, veiled_from)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    account,
    threadId,
    blob,
    trace,
    size,
    receivedAt,
    index.sentAt,
    index.sentDay,
    Number(index.hasAttachment),
    index.baseSubject,
    index.fromKey,
    index.toKey,
    index.ccKey,
    index.fromDisplay,
    index.toDisplay,
    modseq,
    modseq,
    by,
    index.secretLink === true ? index.headerLength : null,
  );
  await tx.run(
    `INSERT INTO email_meta (email_id, header_length, envelope, bodystructure, parts, subject, preview, refs)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    index.headerLength,
    index.envelope,
    index.bodyStructure,
    index.parts,
    index.subject,
    index.preview,
    new Uint8Array(BigInt64Array.from(index.refs).buffer),
  );
  return { id, account, threadId, size, receivedAt, alone: threadId === fresh };
}

/**
 * The thread that a message joins: the one of the nearest message that it refers to, or that refers to it, under the
 * same base subject; else `fresh`. Threads are never merged, so thread ids never change.
 */
async function threadOf(tx: Write, account: number, index: MessageIndex, fresh: number): Promise<number> {
  const hashes = index.refs.filter((hash) => hash !== 0n);
  if (hashes.length === 0) return fresh;
  const subject = subjectHash(index.baseSubject);
  let thread = fresh;
  const unknown: bigint[] = [];
  for (const hash of hashes) {
    const known = await tx.get<{ thread_id: number }>(
      'SELECT thread_id FROM msgid WHERE account_id = ? AND h = ? AND subj_h = ?',
      account,
      hash,
      subject,
    );
    if (known === undefined) unknown.push(hash);
    else thread = known.thread_id;
  }
  if (thread !== fresh && (await isFull(tx, thread))) {
    thread = fresh;
    for (const hash of hashes) {
      const lead = 'UPDATE msgid SET thread_id = ? WHERE account_id = ? AND h = ? AND subj_h = ?';
      await tx.run(lead, fresh, account, hash, subject);
    }
  }
  for (const hash of unknown) {
    await tx.run(
      'INSERT INTO msgid (account_id, h, subj_h, thread_id) VALUES (?, ?, ?, ?)',
      account,
      hash,
      subject,
      thread,
    );
  }
  return thread;
}

async function isFull(tx: Write, thread: number): Promise<boolean> {
  const last = 'SELECT 1 AS full FROM email WHERE thread_id = ? LIMIT 1 OFFSET ?';
  return (await tx.get(last, thread, MOST_IN_THREAD - 1)) !== undefined;
}

/** Of a base subject. FNV-1a over UTF-16 units: a guard against foreign subjects, not against an enemy. */
export function subjectHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** What an entry got in its mailbox. */
export interface Placed {
  uid: number;
  uidValidity: number;
  modseq: number;
}

/** Puts an email into a mailbox of its account under the next UID. */
export async function addEntry(
  tx: Write,
  mailbox: number,
  email: Email,
  flags: StoredFlags,
  stamp: Stamp,
): Promise<Placed> {
  if (email.alone === true) return placeEntry(tx, mailbox, email, flags, stamp, weight(flags.bits));
  const before = await lookAtThreads(tx, [email.threadId]);
  const placed = await placeEntry(tx, mailbox, email, flags, stamp);
  await settleThreads(tx, before, placed.modseq);
  return placed;
}

/** As {@link addEntry}, for commands that look at the threads and settle them on their own. */
export async function placeEntry(
  tx: Write,
  mailbox: number,
  email: Email,
  flags: StoredFlags,
  stamp: Stamp,
  shown = { jTotal: 0, jUnread: 0 },
): Promise<Placed> {
  const modseq = await tx.nextModseq(email.account);
  const { unseen, deleted } = weight(flags.bits);
  const box = await tx.get<{ uid: number; uidvalidity: number }>(
    `UPDATE mailbox SET uidnext = uidnext + 1, highestmodseq = ?1, total = total + 1, unseen = unseen + ?2,
       deleted = deleted + ?3, bytes = bytes + ?4, j_total = j_total + ?5, j_unread = j_unread + ?6,
       threads = threads + ?5, threads_unread = threads_unread + ?6, counts_modseq = iif(?5, ?1, counts_modseq)
     WHERE id = ?7 AND account_id = ?8 RETURNING uidnext - 1 AS uid, uidvalidity`,
    modseq,
    unseen,
    deleted,
    email.size,
    shown.jTotal,
    shown.jUnread,
    mailbox,
    email.account,
  );
  if (box === undefined) throw new Error(`mailbox ${mailbox} is not one of account ${email.account}`);
  await tx.run(
    `INSERT INTO entry (mailbox_id, uid, email_id, flags, kw, modseq, received_at, thread_id, size, save_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    mailbox,
    box.uid,
    email.id,
    flags.bits,
    kwText(flags),
    modseq,
    email.receivedAt,
    email.threadId,
    email.size,
    stamp.now,
  );
  if (deleted === 1) await hideFromBirth(tx, email.id, modseq);
  tx.touched(email.account, mailbox);
  return { uid: box.uid, uidValidity: box.uidvalidity, modseq };
}

/** An entry as the commands that change entries read it. */
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

export function entriesOf(tx: Write, mailbox: number, uids: readonly number[]): Promise<EntryRow[]> {
  return tx.all<EntryRow>(
    `SELECT uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry
     WHERE mailbox_id = ? AND uid IN (SELECT value FROM json_each(?)) ORDER BY uid`,
    mailbox,
    JSON.stringify(uids),
  );
}

/**
 * Takes entries out of a mailbox. What they were stays in `expunged`, for sessions that have not been told and for
 * people who want them back. Emails that are in no mailbox any more stop counting against the quota.
 */
export async function removeEntries(
  tx: Write,
  account: number,
  mailbox: number,
  rows: readonly EntryRow[],
  stamp: Stamp,
): Promise<number> {
  const before = await lookAtThreads(
    tx,
    rows.map((row) => row.thread_id),
  );
  const modseq = await takeEntries(tx, account, mailbox, rows, stamp);
  await settleThreads(tx, before, modseq);
  return modseq;
}

/** As {@link removeEntries}, for commands that look at the threads and settle them on their own. */
export async function takeEntries(
  tx: Write,
  account: number,
  mailbox: number,
  rows: readonly EntryRow[],
  stamp: Stamp,
): Promise<number> {
  const modseq = await tx.nextModseq(account);
  for (const row of rows) {
    await tx.run('DELETE FROM entry WHERE mailbox_id = ? AND uid = ?', mailbox, row.uid);
    await tx.run(
      `INSERT INTO expunged (mailbox_id, uid, email_id, flags, kw, received_at, modseq, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      mailbox,
      row.uid,
      row.email_id,
      row.flags,
      row.kw,
      row.received_at,
      modseq,
      stamp.now,
    );
    await tx.run(
      `UPDATE account SET used_bytes = used_bytes - ?, used_count = used_count - 1
       WHERE id = ? AND NOT EXISTS (SELECT 1 FROM entry WHERE email_id = ?)`,
      row.size,
      account,
      row.email_id,
    );
  }
  await recount(
    tx,
    mailbox,
    modseq,
    rows.map((row) => ({ bits: row.flags, size: row.size, sign: -1 })),
  );
  tx.touched(account, mailbox);
  return modseq;
}

/** Moves a mailbox's IMAP counters by what came, went or changed. */
export async function recount(
  tx: Write,
  mailbox: number,
  modseq: number,
  changes: readonly { bits: number; size: number; sign: 1 | -1 }[],
): Promise<void> {
  const sum = { total: 0, unseen: 0, deleted: 0, bytes: 0 };
  for (const { bits, size, sign } of changes) {
    const one = weight(bits);
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

/** Another email of the same blob: for a copy into a mailbox that already has this one. */
export async function cloneEmail(tx: Write, account: number, id: number): Promise<Email> {
  const modseq = await tx.nextModseq(account);
  const copy = await tx.get<{ email: number; thread: number }>(
    `UPDATE account SET email_seq = email_seq + 1, thread_seq = thread_seq + 1, used_count = used_count + 1
     WHERE id = ? RETURNING email_seq AS email, thread_seq AS thread`,
    account,
  );
  const whole = await tx.get<{ thread_id: number }>('SELECT thread_id FROM email WHERE id = ?', id);
  if (copy === undefined || whole === undefined) throw new Error(`email ${id} of account ${account} does not exist`);
  const newId = account * ACCOUNT_SPAN + copy.email;
  const alone = await isFull(tx, whole.thread_id);
  const threadId = alone ? account * ACCOUNT_SPAN + copy.thread : whole.thread_id;
  const row = await tx.get<{ size: number; received_at: number }>(
    `INSERT INTO email (id, account_id, thread_id, blob_id, trace, size, received_at, sent_at, sent_day, attach, subj,
       from_k, to_k, cc_k, from_d, to_d, created_modseq, modseq, made_by, veiled_from)
     SELECT ?1, account_id, ?2, blob_id, trace, size, received_at, sent_at, sent_day, attach, subj,
       from_k, to_k, cc_k, from_d, to_d, ?3, ?3, made_by, veiled_from FROM email WHERE id = ?4 RETURNING size, received_at`,
    newId,
    threadId,
    modseq,
    id,
  );
  if (row === undefined) throw new Error(`email ${id} does not exist`);
  await tx.run(
    `INSERT INTO email_meta SELECT ?, header_length, envelope, bodystructure, parts, subject, preview, refs
     FROM email_meta WHERE email_id = ?`,
    newId,
    id,
  );
  await tx.run('UPDATE account SET used_bytes = used_bytes + ? WHERE id = ?', row.size, account);
  return { id: newId, account, threadId, size: row.size, receivedAt: row.received_at, alone };
}

/** True when \Deleted is set. */
export function isDeleted(row: { flags: number }): boolean {
  return (row.flags & DELETED) !== 0;
}
