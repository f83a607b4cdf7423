import type { Read, Write } from '../engine/types.ts';
import { DELETED, kwText, type StoredFlags } from '../mailbox/flags.ts';
import { dropTotals, type JmapCounts } from './thread-total.ts';
import { IN_THREAD } from './in-thread.ts';

/**
 * Visible entries of some threads. JMAP (RFC 8621) shows an email if it has an entry without \Deleted in an existing
 * mailbox, and counts threads by visible emails. Every command that changes entries takes a snapshot before and updates
 * after, except for entries of new emails (`thread-total.ts`), so that the counters, `email.modseq` and
 * `email.visibility_modseq` change exactly with visibility.
 */
export interface ThreadSnapshot {
  readonly threads: readonly number[];
  readonly rows: readonly ShownRow[];
}

interface ShownRow extends Record<string, number | string | null> {
  thread_id: number;
  email_id: number;
  mailbox_id: number;
  flags: number;
  kw: string | null;
  /** 1: the mailbox is the trash, which is counted separately. */
  trash: number;
}

/** Snapshot of no threads: no update follows. */
export const NO_THREADS: ThreadSnapshot = { threads: [], rows: [] };

/** Neither \Seen nor \Draft. */
const isUnread = (row: ShownRow): boolean => (row.flags & 9) === 0;

/** Reads the visible entries of these threads. A thread has at most 500 emails. */
export async function snapshotThreads(rx: Read, threads: Iterable<number>): Promise<ThreadSnapshot> {
  const ids = [...new Set(threads)];
  if (ids.length === 0) return NO_THREADS;
  const rows = await rx.all<ShownRow>(
    `SELECT e.thread_id, e.id AS email_id, n.mailbox_id, n.flags, n.kw, m.role IS 'trash' AS trash
     FROM json_each(?) t CROSS JOIN email e ON ${IN_THREAD} CROSS JOIN entry n ON n.email_id = e.id
       CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.flags & 16 = 0 AND m.deleted_at IS NULL`,
    JSON.stringify(ids),
  );
  return { threads: ids, rows };
}

/** Compares the threads with the snapshot and records the difference as of `modseq`. */
export async function updateThreads(tx: Write, before: ThreadSnapshot, modseq: number): Promise<void> {
  if (before.threads.length === 0) return;
  const after = await snapshotThreads(tx, before.threads);
  await updateEmails(tx, before.rows, after.rows, modseq);
  await updateMailboxes(tx, before.rows, after.rows, modseq);
}

/** Records that emails have other flags, in all their mailboxes, without looking again. \Deleted must not change. */
export async function updateFlagged(
  tx: Write,
  before: ThreadSnapshot,
  modseq: number,
  flagsOf: ReadonlyMap<number, StoredFlags>,
): Promise<void> {
  const changed = new Set<number>();
  let isCounted = false;
  const after = before.rows.map((row) => {
    const now = flagsOf.get(row.email_id);
    if (now === undefined) return row;
    const flagged = { ...row, flags: now.bits & ~DELETED, kw: kwText(now) };
    if (flagged.flags !== row.flags || flagged.kw !== row.kw) changed.add(row.email_id);
    isCounted ||= isUnread(flagged) !== isUnread(row);
    return flagged;
  });
  if (changed.size > 0) await tx.run(CHANGED, modseq, JSON.stringify([...changed]));
  if (isCounted) await updateMailboxes(tx, before.rows, after, modseq);
}

async function updateEmails(
  tx: Write,
  before: readonly ShownRow[],
  after: readonly ShownRow[],
  modseq: number,
): Promise<void> {
  const [was, is] = [visibleStates(before), visibleStates(after)];
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((email) => was.get(email) !== is.get(email));
  const bySql = Map.groupBy(changed, (email) =>
    was.has(email) === is.has(email) ? CHANGED : is.has(email) ? SHOWN : HIDDEN,
  );
  for (const [sql, emails] of bySql) await tx.run(sql, modseq, JSON.stringify(emails));
}

const CHANGED = 'UPDATE email SET modseq = ?1 WHERE id IN (SELECT value FROM json_each(?2))';
const HIDDEN = 'UPDATE email SET modseq = ?1, visibility_modseq = ?1 WHERE id IN (SELECT value FROM json_each(?2))';
// An email created in this command is visible since its creation, which needs no record.
const SHOWN = `UPDATE email SET modseq = ?1, visibility_modseq = CASE WHEN created_modseq = ?1 THEN NULL ELSE ?1 END
  WHERE id IN (SELECT value FROM json_each(?2)) AND NOT (created_modseq = ?1 AND visibility_modseq IS NULL)`;

/** Visible state by email: its mailboxes and keywords, which are the same in all. */
function visibleStates(rows: readonly ShownRow[]): Map<number, string> {
  const found = new Map<number, string>();
  const sorted = rows.toSorted((a, b) => a.email_id - b.email_id || a.mailbox_id - b.mailbox_id);
  for (const { email_id: email, mailbox_id: mailbox, flags, kw } of sorted) {
    const first = found.get(email) ?? `${flags} ${kw ?? ''}`;
    found.set(email, `${first},${mailbox}`);
  }
  return found;
}

async function updateMailboxes(
  tx: Write,
  before: readonly ShownRow[],
  after: readonly ShownRow[],
  modseq: number,
): Promise<void> {
  await dropTotals(tx, before, after);
  const change = new Map<number, JmapCounts>();
  count(change, before, -1);
  count(change, after, 1);
  for (const [mailbox, { emails, unread, threads, unreadThreads }] of change) {
    if (emails === 0 && unread === 0 && threads === 0 && unreadThreads === 0) continue;
    await tx.run(
      `UPDATE mailbox SET j_total = j_total + ?, j_unread = j_unread + ?, threads = threads + ?,
         threads_unread = threads_unread + ?, counts_modseq = ? WHERE id = ?`,
      emails,
      unread,
      threads,
      unreadThreads,
      modseq,
      mailbox,
    );
  }
}

/** RFC 8621 2: one unread email makes a thread unread, but the trash and other mailboxes are counted separately. */
function count(into: Map<number, JmapCounts>, rows: readonly ShownRow[], sign: 1 | -1): void {
  const unread = new Set(rows.filter(isUnread).map((row) => `${row.thread_id} ${row.trash}`));
  const counted = new Set<string>();
  for (const row of rows) {
    const one = into.get(row.mailbox_id) ?? { emails: 0, unread: 0, threads: 0, unreadThreads: 0 };
    into.set(row.mailbox_id, one);
    one.emails += sign;
    if (isUnread(row)) one.unread += sign;
    const place = `${row.mailbox_id} ${row.thread_id}`;
    if (counted.has(place)) continue;
    counted.add(place);
    one.threads += sign;
    if (unread.has(`${row.thread_id} ${row.trash}`)) one.unreadThreads += sign;
  }
}

/** Marks an email that was created with \Deleted in one command as never visible. */
export async function markNeverVisible(tx: Write, email: number, modseq: number): Promise<void> {
  await tx.run(
    `UPDATE email SET visibility_modseq = ?1 WHERE id = ?2 AND created_modseq = ?1
       AND NOT EXISTS (SELECT 1 FROM entry WHERE email_id = ?2 AND flags & 16 = 0)`,
    modseq,
    email,
  );
}

/**
 * Records in emails that leave a deleted large mailbox that they were hidden or removed when it was deleted, so that
 * slices change no state that clients know.
 */
export async function recordHidden(tx: Write, mailbox: number, emails: readonly number[]): Promise<void> {
  await tx.run(
    `UPDATE email SET modseq = max(email.modseq, g.modseq), visibility_modseq = CASE
       WHEN EXISTS (SELECT 1 FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
         WHERE n.email_id = email.id AND n.flags & 16 = 0 AND m.deleted_at IS NULL) THEN email.visibility_modseq
       ELSE max(ifnull(email.visibility_modseq, 0), g.modseq) END
     FROM (SELECT modseq FROM mailbox WHERE id = ?1) g
     WHERE id IN (SELECT value FROM json_each(?2)) AND EXISTS (SELECT 1 FROM entry h INDEXED BY entry_email
       WHERE h.email_id = email.id AND h.mailbox_id = ?1 AND h.flags & 16 = 0)`,
    mailbox,
    JSON.stringify(emails),
  );
}
