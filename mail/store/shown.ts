import type { Read, Write } from './engine/types.ts';

/**
 * What JMAP sees of some threads. RFC 8621 shows an email where it has an entry without \Deleted in a mailbox that is
 * not gone, and counts threads by what is shown. Every command that changes entries looks before and settles after, so
 * that the counters, `email.modseq` and `email.shown_modseq` move exactly when what is shown does.
 */
export interface ThreadLook {
  readonly threads: readonly number[];
  readonly rows: readonly ShownRow[];
}

interface ShownRow extends Record<string, number | string | null> {
  thread_id: number;
  email_id: number;
  mailbox_id: number;
  flags: number;
  kw: string | null;
  /** 1: the mailbox is the trash, which counts for itself. */
  trash: number;
}

/** Of no threads: nothing is settled after it. */
export const NOTHING_SEEN: ThreadLook = { threads: [], rows: [] };

/** Neither \Seen nor \Draft. */
const isUnread = (row: ShownRow): boolean => (row.flags & 9) === 0;

/** Reads what is shown of these threads. A thread holds few emails, and never more than 500. */
export async function lookAtThreads(rx: Read, threads: Iterable<number>): Promise<ThreadLook> {
  const ids = [...new Set(threads)];
  if (ids.length === 0) return NOTHING_SEEN;
  const rows = await rx.all<ShownRow>(
    `SELECT e.thread_id, e.id AS email_id, n.mailbox_id, n.flags, n.kw, m.role IS 'trash' AS trash
     FROM json_each(?) t CROSS JOIN email e ON e.thread_id = t.value CROSS JOIN entry n ON n.email_id = e.id
       CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.flags & 16 = 0 AND m.gone_at IS NULL`,
    JSON.stringify(ids),
  );
  return { threads: ids, rows };
}

/** Looks at the threads again and writes down the difference, as of `modseq`. */
export async function settleThreads(tx: Write, before: ThreadLook, modseq: number): Promise<void> {
  if (before.threads.length === 0) return;
  const after = await lookAtThreads(tx, before.threads);
  await settleEmails(tx, before.rows, after.rows, modseq);
  await settleMailboxes(tx, before.rows, after.rows, modseq);
}

async function settleEmails(
  tx: Write,
  before: readonly ShownRow[],
  after: readonly ShownRow[],
  modseq: number,
): Promise<void> {
  const [was, is] = [faces(before), faces(after)];
  for (const email of new Set([...was.keys(), ...is.keys()])) {
    if (was.get(email) === is.get(email)) continue;
    const sql = was.has(email) === is.has(email) ? CHANGED : is.has(email) ? SHOWN : HIDDEN;
    await tx.run(sql, modseq, email);
  }
}

const CHANGED = 'UPDATE email SET modseq = ? WHERE id = ?';
const HIDDEN = 'UPDATE email SET modseq = ?1, shown_modseq = ?1 WHERE id = ?2';
// One that was made in this command is shown since it exists, which needs no writing down.
const SHOWN = `UPDATE email SET modseq = ?1, shown_modseq = CASE WHEN created_modseq = ?1 THEN NULL ELSE ?1 END
  WHERE id = ?2 AND NOT (created_modseq = ?1 AND shown_modseq IS NULL)`;

/** What may change of an email, by email: where it is, and its keywords, which are the same everywhere. */
function faces(rows: readonly ShownRow[]): Map<number, string> {
  const found = new Map<number, string>();
  const sorted = rows.toSorted((a, b) => a.email_id - b.email_id || a.mailbox_id - b.mailbox_id);
  for (const { email_id: email, mailbox_id: mailbox, flags, kw } of sorted) {
    const first = found.get(email) ?? `${flags} ${kw ?? ''}`;
    found.set(email, `${first},${mailbox}`);
  }
  return found;
}

/** Counters of a mailbox as JMAP has them. */
interface Counts {
  emails: number;
  unread: number;
  threads: number;
  unreadThreads: number;
}

async function settleMailboxes(
  tx: Write,
  before: readonly ShownRow[],
  after: readonly ShownRow[],
  modseq: number,
): Promise<void> {
  const change = new Map<number, Counts>();
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

/** RFC 8621 2: a thread is unread by any of its emails, but the trash and what is outside it do not see each other. */
function count(into: Map<number, Counts>, rows: readonly ShownRow[], sign: 1 | -1): void {
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

/** An email that was made and put away with \Deleted in one command has never been shown. */
export async function hideFromBirth(tx: Write, email: number, modseq: number): Promise<void> {
  await tx.run(
    `UPDATE email SET shown_modseq = ?1 WHERE id = ?2 AND created_modseq = ?1
       AND NOT EXISTS (SELECT 1 FROM entry WHERE email_id = ?2 AND flags & 16 = 0)`,
    modseq,
    email,
  );
}

/**
 * What the removal of a large mailbox said at once, written into its emails as they leave it: they were hidden, or left
 * it, when the mailbox went. So the slices change nothing that a client was not told.
 */
export async function settleGone(tx: Write, mailbox: number, emails: readonly number[]): Promise<void> {
  await tx.run(
    `UPDATE email SET modseq = max(email.modseq, g.modseq), shown_modseq = CASE
       WHEN EXISTS (SELECT 1 FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
         WHERE n.email_id = email.id AND n.flags & 16 = 0 AND m.gone_at IS NULL) THEN email.shown_modseq
       ELSE max(ifnull(email.shown_modseq, 0), g.modseq) END
     FROM (SELECT modseq FROM mailbox WHERE id = ?1) g
     WHERE id IN (SELECT email_id FROM entry WHERE mailbox_id = ?1 AND flags & 16 = 0
       AND email_id IN (SELECT value FROM json_each(?2)))`,
    mailbox,
    JSON.stringify(emails),
  );
}
