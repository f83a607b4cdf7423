import type { MessageIndex } from '../message/index-types.ts';
import { type ApprovalPlaces, approvalPlaces } from './approval-places.ts';
import type { ApprovalRow, HeldReason } from './approval.ts';
import type { Read, Stamp, Write } from './engine/types.ts';
import { type FlagSet, kwList, SEEN, type StoredFlags, storeKeywords } from './flags.ts';
import { addMailbox } from './mailbox.ts';
import { addEmail, addEntry, entriesOf, type EntryRow, placeEntry, takeEntries } from './message.ts';
import { lookAtThreads, settleThreads } from './shown.ts';

/** Carried by what lies there. */
export const AWAITING: FlagSet = { bits: 0, keywords: ['$AwaitingApproval'] };

const WAITING_NAMES = ['Awaiting approval', 'Awaiting approval (mail of agents)'];
const APPROVED_NAMES = ['Approved', 'Approved (mail of agents)'];
/** Octets of the header line that says why. */
const LONGEST_REASON = 900;

/**
 * Puts a message where a mail program shows it as waiting. The octets are those that leave; why it waits stands before
 * them, in this copy only; `by`: the agent that wrote it. Null: there is no room, or no name for the mailboxes; then the other ways remain.
 */
export async function fileWaiting(
  tx: Write,
  what: { account: number; blob: number; index: MessageIndex; reasons: readonly HeldReason[]; by: string },
  stamp: Stamp,
): Promise<number | null> {
  const { account, blob, index, reasons, by } = what;
  const places = (await hasRoom(tx, account, index.size)) ? await bothMailboxes(tx, account, stamp) : undefined;
  if (places === undefined) return null;
  const flags = (await storeKeywords(tx, account, AWAITING)) ?? { bits: 0, kw: [] };
  const email = await addEmail(tx, { account, blob, index, trace: whyField(reasons), receivedAt: stamp.now, by });
  await addEntry(tx, places.waiting, email, flags, stamp);
  return email.id;
}

/** What is not ASCII, or could begin another line, is left out. */
function whyField(reasons: readonly HeldReason[]): string {
  const why = reasons.map(({ text }) => text.replace(/[^ -~]+/g, ' ')).join('; ');
  return `X-Awaits-Approval: ${why.slice(0, LONGEST_REASON)}\r\n`;
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

/** A person may have removed one of them meanwhile. */
async function bothMailboxes(tx: Write, account: number, stamp: Stamp): Promise<ApprovalPlaces | undefined> {
  const known = await approvalPlaces(tx, account);
  const waiting = await liveOr(tx, account, known?.waiting, WAITING_NAMES, stamp);
  const approved = waiting && (await liveOr(tx, account, known?.approved, APPROVED_NAMES, stamp));
  if (waiting === undefined || approved === undefined) return undefined;
  if (known?.waiting === waiting && known.approved === approved) return known;
  await tx.run(
    `INSERT INTO approval_mailbox (account_id, waiting, approved) VALUES (?1, ?2, ?3)
     ON CONFLICT (account_id) DO UPDATE SET waiting = ?2, approved = ?3`,
    account,
    waiting,
    approved,
  );
  return { waiting, approved };
}

async function liveOr(
  tx: Write,
  account: number,
  known: number | undefined,
  names: readonly string[],
  stamp: Stamp,
): Promise<number | undefined> {
  const sql = 'SELECT id FROM mailbox WHERE id = ? AND account_id = ? AND gone_at IS NULL';
  if (known !== undefined && (await tx.get(sql, known, account)) !== undefined) return known;
  for (const name of names) {
    const taken = 'SELECT 1 AS taken FROM mailbox WHERE account_id = ? AND parent_id = 0 AND name = ?';
    if ((await tx.get(taken, account, name)) === undefined) return addMailbox(tx, account, 0, name, null, stamp);
  }
  return undefined;
}

/**
 * Moves what lies in the two mailboxes on. Where a person has put it elsewhere it stays there, and so does what there is
 * no place for. Answers whether it is there then.
 */
export async function refile(
  tx: Write,
  { account_id: account, email_id: email }: ApprovalRow,
  to: 'approved' | 'sent' | 'trash',
  stamp: Stamp,
): Promise<boolean> {
  const places = account === null ? undefined : await approvalPlaces(tx, account);
  if (account === null || email === null || places === undefined) return false;
  const target = to === 'approved' ? places.approved : await mailboxOfRole(tx, account, to);
  const found = await tx.all<{ mailbox: number; uid: number }>(
    `SELECT mailbox_id AS mailbox, uid FROM entry INDEXED BY entry_email WHERE email_id = ?
       AND mailbox_id IN (?, ?) AND mailbox_id IS NOT ?`,
    email,
    places.waiting,
    places.approved,
    target ?? null,
  );
  if (found.length === 0 || target === undefined) return false;
  const before = await lookAtThreads(tx, await threadOf(tx, email));
  let modseq = 0;
  for (const { mailbox, uid } of found) {
    const rows = await entriesOf(tx, mailbox, [uid]);
    for (const row of rows) await placeOnce(tx, account, { target, row, seen: to === 'sent' }, stamp);
    modseq = await takeEntries(tx, account, mailbox, rows, stamp);
  }
  await settleThreads(tx, before, modseq);
  return true;
}

async function placeOnce(
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
  const flags = await withoutMark(tx, account, { bits: row.flags | (seen ? SEEN : 0), kw: kwList(row.kw) });
  await placeEntry(tx, target, { id, account, threadId, size, receivedAt }, flags, stamp);
}

async function withoutMark(tx: Write, account: number, flags: StoredFlags): Promise<StoredFlags> {
  const mark = await storeKeywords(tx, account, AWAITING, false);
  if (mark === undefined) return flags;
  return { bits: flags.bits & ~mark.bits, kw: flags.kw.filter((name) => !mark.kw.includes(name)) };
}

async function threadOf(rx: Read, email: number): Promise<number[]> {
  const row = await rx.get<{ thread: number }>('SELECT thread_id AS thread FROM email WHERE id = ?', email);
  return row === undefined ? [] : [row.thread];
}

async function mailboxOfRole(rx: Read, account: number, role: 'sent' | 'trash'): Promise<number | undefined> {
  const sql = 'SELECT id FROM mailbox WHERE account_id = ? AND role = ? AND gone_at IS NULL';
  return (await rx.get<{ id: number }>(sql, account, role))?.id;
}
