import type { Write } from '../engine/types.ts';
import { flagCounts } from '../mailbox/flags.ts';
import { ACCOUNT_SPAN } from '../search/account-span.ts';
import type { Email } from './message.ts';
import { IN_THREAD_1 } from './in-thread.ts';

/** Change of the JMAP counters of a mailbox. */
export interface JmapCounts {
  emails: number;
  unread: number;
  threads: number;
  unreadThreads: number;
}

/** Visible messages of a thread in one mailbox. */
interface ThreadTotal extends Record<string, number> {
  mailbox_id: number;
  /** 1: the mailbox is the trash, which is counted separately. */
  trash: number;
  shown: number;
  unread: number;
}

/** Visible messages from which on the totals of a thread are stored; a shorter thread is read each time. */
export const LONG_THREAD = 32;

/**
 * Counts an entry that a new email gets: returns the change for its mailbox, and updates the others of its thread, where
 * the first unread message makes the thread unread. Reads a row for each mailbox of a long thread, not for each email.
 */
export async function joinThread(
  tx: Write,
  mailbox: number,
  { account, threadId, alone }: Email,
  bits: number,
  modseq: number,
): Promise<JmapCounts> {
  const { jTotal: emails, jUnread: unread } = flagCounts(bits);
  if (alone === true || emails === 0) return { emails, unread, threads: emails, unreadThreads: unread };
  const { totals, isStored } = await totalsOf(tx, threadId);
  const here = totals.find((row) => row.mailbox_id === mailbox);
  const trash = here?.trash ?? (totals.length === 0 ? 0 : await trashOf(tx, mailbox));
  const others = totals.filter((row) => row !== here && row.trash === trash);
  const wasUnread = [...others, ...(here === undefined ? [] : [here])].some((row) => row.unread > 0);
  const isUnread = wasUnread || unread > 0;
  if (isUnread && !wasUnread) {
    await updateUnreadThreads(
      tx,
      account,
      others.map((row) => row.mailbox_id),
      modseq,
    );
  }
  await storeTotals(tx, threadId, [...totals.filter((row) => row !== here), added(here, mailbox, unread)], isStored);
  const wasHere = here !== undefined;
  return {
    emails,
    unread,
    threads: Number(!wasHere),
    unreadThreads: Number(isUnread) - Number(wasHere && wasUnread),
  };
}

function added(here: ThreadTotal | undefined, mailbox: number, unread: number): ThreadTotal {
  const { shown = 0, unread: before = 0, trash = 0 } = here ?? {};
  return { mailbox_id: mailbox, trash, shown: shown + 1, unread: before + unread };
}

async function totalsOf(tx: Write, thread: number): Promise<{ totals: ThreadTotal[]; isStored: boolean }> {
  const stored = await tx.all<ThreadTotal>(
    `SELECT t.mailbox_id, m.role IS 'trash' AS trash, t.shown, t.unread
     FROM thread_total t CROSS JOIN mailbox m ON m.id = t.mailbox_id WHERE t.thread_id = ?`,
    thread,
  );
  if (stored.length > 0) return { totals: stored, isStored: true };
  const rows = await tx.all<{ mailbox_id: number; trash: number; flags: number }>(
    `SELECT n.mailbox_id, m.role IS 'trash' AS trash, n.flags
     FROM email e CROSS JOIN entry n ON n.email_id = e.id CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE ${IN_THREAD_1} AND n.flags & 16 = 0 AND m.deleted_at IS NULL`,
    thread,
  );
  const totals = new Map<number, ThreadTotal>();
  for (const { mailbox_id: mailbox, trash, flags } of rows) {
    const total = totals.get(mailbox) ?? { mailbox_id: mailbox, trash, shown: 0, unread: 0 };
    totals.set(mailbox, total);
    total.shown++;
    total.unread += flagCounts(flags).jUnread;
  }
  return { totals: [...totals.values()], isStored: false };
}

/** Stores the totals of a long thread. The last one is that of the mailbox with the new entry, the only one to change. */
async function storeTotals(
  tx: Write,
  thread: number,
  totals: readonly ThreadTotal[],
  isStored: boolean,
): Promise<void> {
  const isLong = totals.reduce((sum, row) => sum + row.shown, 0) >= LONG_THREAD;
  if (!isLong) return;
  for (const { mailbox_id: mailbox, shown, unread } of isStored ? totals.slice(-1) : totals) {
    await tx.send(
      `INSERT INTO thread_total (thread_id, mailbox_id, shown, unread) VALUES (?, ?, ?, ?)
       ON CONFLICT (thread_id, mailbox_id) DO UPDATE SET shown = excluded.shown, unread = excluded.unread`,
      thread,
      mailbox,
      shown,
      unread,
    );
  }
}

async function trashOf(tx: Write, mailbox: number): Promise<number> {
  const row = await tx.get<{ trash: number }>(`SELECT role IS 'trash' AS trash FROM mailbox WHERE id = ?`, mailbox);
  return row?.trash ?? 0;
}

async function updateUnreadThreads(
  tx: Write,
  account: number,
  mailboxes: readonly number[],
  modseq: number,
): Promise<void> {
  if (mailboxes.length === 0) return;
  await tx.run(
    `UPDATE mailbox SET threads_unread = threads_unread + 1, counts_modseq = ?
     WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))`,
    modseq,
    account,
    JSON.stringify(mailboxes),
  );
}

/**
 * Deletes the totals of threads whose entries change otherwise. `rows`: their visible entries, before or after: a thread
 * with fewer than {@link LONG_THREAD} has none.
 */
export async function dropTotals(tx: Write, ...states: (readonly { thread_id: number }[])[]): Promise<void> {
  const long = new Set<number>();
  for (const rows of states) {
    if (rows.length < LONG_THREAD) continue;
    for (const [thread, members] of Map.groupBy(rows, (row) => row.thread_id)) {
      if (members.length >= LONG_THREAD) long.add(thread);
    }
  }
  if (long.size === 0) return;
  await tx.run(
    'DELETE FROM thread_total WHERE thread_id IN (SELECT value FROM json_each(?))',
    JSON.stringify([...long]),
  );
}

/** Deletes the totals of all threads of an account. */
export async function dropAllTotals(tx: Write, account: number): Promise<void> {
  await tx.run(
    'DELETE FROM thread_total WHERE thread_id >= ? AND thread_id < ?',
    account * ACCOUNT_SPAN,
    (account + 1) * ACCOUNT_SPAN,
  );
}
