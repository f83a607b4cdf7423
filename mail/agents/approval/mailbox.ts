import type { MessageIndex } from '../../message/index-types.ts';
import type { Reason } from '../gate/types.ts';
import type { ApprovalRow } from './approval-row.ts';
import type { Read, Stamp, Write } from '../../store/engine/types.ts';
import { type NamedFlags, kwList, SEEN, type StoredFlags, storeKeywords } from '../../store/mailbox/flags.ts';
import { addMailbox } from '../../store/mailbox/mailbox.ts';
import { addEntry, entriesOf, type EntryRow, placeEntry, takeEntries } from '../../store/message/entry.ts';
import { addEmail } from '../../store/message/message.ts';
import { snapshotThreads, updateThreads } from '../../store/message/visibility.ts';

/** Marks messages that await approval. */
export const AWAITING: NamedFlags = { bits: 0, keywords: ['$AwaitingApproval'] };

const WAITING_NAMES = ['Awaiting approval', 'Awaiting approval (mail of agents)'];
const APPROVED_NAMES = ['Approved', 'Approved (mail of agents)'];
/** Octets of the X-Awaits-Approval header field. */
const MAX_REASON_OCTETS = 900;

/**
 * Files a copy in the mailbox "Awaiting approval". The octets are those that leave; the reasons precede them in this copy
 * only. `by`: the agent that wrote it. Null if the quota is full or the mailboxes cannot be created; then only the portal and
 * the notice show it.
 */
export async function fileForApproval(
  tx: Write,
  what: { account: number; blob: number; index: MessageIndex; reasons: readonly Reason[]; by: string },
  stamp: Stamp,
): Promise<number | null> {
  const { account, blob, index, reasons, by } = what;
  const mailboxes = (await hasRoom(tx, account, index.size))
    ? await findOrCreateMailboxes(tx, account, stamp)
    : undefined;
  if (mailboxes === undefined) return null;
  const flags = (await storeKeywords(tx, account, AWAITING, { by: null })) ?? { bits: 0, kw: [] };
  const email = await addEmail(tx, { account, blob, index, trace: reasonField(reasons), receivedAt: stamp.now, by });
  await addEntry(tx, mailboxes.waiting, email, flags, stamp);
  return email.id;
}

/** Drops everything that is not printable ASCII: nothing can begin another header line. */
function reasonField(reasons: readonly Reason[]): string {
  const why = reasons.map(({ text }) => text.replace(/[^ -~]+/g, ' ')).join('; ');
  return `X-Awaits-Approval: ${why.slice(0, MAX_REASON_OCTETS)}\r\n`;
}

async function hasRoom(rx: Read, account: number, size: number): Promise<boolean> {
  // A quota that is null is none.
  const full = await rx.get(
    'SELECT 1 AS yes FROM account WHERE id = ? AND (state <> 1 OR used_bytes + ? > quota_bytes OR used_count >= quota_count)',
    account,
    size,
  );
  return full === undefined;
}

/** Finds or creates both mailboxes; a person may have deleted one of them meanwhile. */
async function findOrCreateMailboxes(tx: Write, account: number, stamp: Stamp): Promise<ApprovalMailboxes | undefined> {
  const before = await approvalMailboxes(tx, account);
  const waiting = await existingOrNew(tx, account, before?.waiting, WAITING_NAMES, stamp);
  const approved = waiting && (await existingOrNew(tx, account, before?.approved, APPROVED_NAMES, stamp));
  if (waiting === undefined || approved === undefined) return undefined;
  if (before?.waiting === waiting && before.approved === approved) return before;
  await tx.run(
    `INSERT INTO approval_mailbox (account_id, waiting, approved) VALUES (?1, ?2, ?3)
     ON CONFLICT (account_id) DO UPDATE SET waiting = ?2, approved = ?3`,
    account,
    waiting,
    approved,
  );
  return { waiting, approved };
}

async function existingOrNew(
  tx: Write,
  account: number,
  known: number | undefined,
  names: readonly string[],
  stamp: Stamp,
): Promise<number | undefined> {
  const sql = 'SELECT id FROM mailbox WHERE id = ? AND account_id = ? AND deleted_at IS NULL';
  if (known !== undefined && (await tx.get(sql, known, account)) !== undefined) return known;
  for (const name of names) {
    const taken = 'SELECT 1 AS taken FROM mailbox WHERE account_id = ? AND parent_id = 0 AND name = ?';
    if ((await tx.get(taken, account, name)) === undefined) return addMailbox(tx, account, 0, name, null, stamp);
  }
  return undefined;
}

/**
 * Moves the copy out of the two mailboxes. A copy that a person has moved elsewhere stays there, and so does one without a
 * target mailbox. Returns if it is in the target then.
 */
export async function refile(
  tx: Write,
  { account_id: account, email_id: email }: ApprovalRow,
  to: 'approved' | 'sent' | 'trash',
  stamp: Stamp,
): Promise<boolean> {
  const mailboxes = account === null ? undefined : await approvalMailboxes(tx, account);
  if (account === null || email === null || mailboxes === undefined) return false;
  const target = to === 'approved' ? mailboxes.approved : await mailboxOfRole(tx, account, to);
  const found = await tx.all<{ mailbox: number; uid: number }>(
    `SELECT mailbox_id AS mailbox, uid FROM entry INDEXED BY entry_email WHERE email_id = ?
       AND mailbox_id IN (?, ?) AND mailbox_id IS NOT ?`,
    email,
    mailboxes.waiting,
    mailboxes.approved,
    target ?? null,
  );
  if (found.length === 0 || target === undefined) return false;
  const before = await snapshotThreads(tx, await threadOf(tx, email));
  let modseq = 0;
  for (const { mailbox, uid } of found) {
    const rows = await entriesOf(tx, mailbox, [uid]);
    for (const row of rows) await placeIfMissing(tx, account, { target, row, seen: to === 'sent' }, stamp);
    modseq = await takeEntries(tx, account, mailbox, rows, stamp);
  }
  await updateThreads(tx, before, modseq);
  return true;
}

async function placeIfMissing(
  tx: Write,
  account: number,
  { target, row, seen }: { target: number; row: EntryRow; seen: boolean },
  stamp: Stamp,
): Promise<void> {
  const there = await tx.get(
    'SELECT 1 AS there FROM entry WHERE email_id = ? AND mailbox_id = ?',
    row.email_id,
    target,
  );
  if (there !== undefined) return;
  const { email_id: id, thread_id: threadId, size, received_at: receivedAt } = row;
  const flags = await withoutAwaiting(tx, account, { bits: row.flags | (seen ? SEEN : 0), kw: kwList(row.kw) });
  await placeEntry(tx, target, { id, account, threadId, size, receivedAt }, flags, stamp);
}

async function withoutAwaiting(tx: Write, account: number, flags: StoredFlags): Promise<StoredFlags> {
  const mark = await storeKeywords(tx, account, AWAITING, { by: null, making: false });
  if (mark === undefined) return flags;
  return { bits: flags.bits & ~mark.bits, kw: flags.kw.filter((name) => !mark.kw.includes(name)) };
}

async function threadOf(rx: Read, email: number): Promise<number[]> {
  const row = await rx.get<{ thread: number }>('SELECT thread_id AS thread FROM email WHERE id = ?', email);
  return row === undefined ? [] : [row.thread];
}

async function mailboxOfRole(rx: Read, account: number, role: 'sent' | 'trash'): Promise<number | undefined> {
  const sql = 'SELECT id FROM mailbox WHERE account_id = ? AND role = ? AND deleted_at IS NULL';
  return (await rx.get<{ id: number }>(sql, account, role))?.id;
}

/** The mailboxes in which people decide with a mail program; rows of `mailbox`. */
export interface ApprovalMailboxes extends Record<string, number> {
  /** Holds messages that await approval. */
  waiting: number;
  /** A message that a person moves here is sent. */
  approved: number;
}

/** Mailboxes of an account; undefined if nothing ever awaited approval there. One of them may be deleted. */
export function approvalMailboxes(rx: Read, account: number): Promise<ApprovalMailboxes | undefined> {
  return rx.get<ApprovalMailboxes>('SELECT waiting, approved FROM approval_mailbox WHERE account_id = ?', account);
}

/** Tests if a mailbox is one of the two: clients cannot append to them or rename them. */
export async function isApprovalMailbox(rx: Read, account: number, mailbox: number): Promise<boolean> {
  const mailboxes = await approvalMailboxes(rx, account);
  return mailboxes !== undefined && (mailboxes.waiting === mailbox || mailboxes.approved === mailbox);
}
