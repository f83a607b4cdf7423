import { approve, endApproval, findApprovalFlaw, type ApprovalFlaw } from './approval.ts';
import { APPROVAL, type ApprovalRow } from './approval-row.ts';
import { approvalMailboxes } from './mailbox.ts';
import type { AllowedMove, EmailMove, Forbidden, Read, Stamp, Write } from '../../store/engine/types.ts';
import { isHuman } from '../../store/actor.ts';

const PLAIN_MOVE: AllowedMove = { kind: 'allowed', settle: () => Promise.resolve() };
const PERSON_REQUIRED =
  'This message awaits approval: a person decides, with a password of the mailbox or in the portal';
const NOT_PENDING = 'Only messages that await approval can be moved here';
const FLAW_TEXT: Readonly<Record<ApprovalFlaw, string>> = {
  decided: 'It was decided before: it is not sent again',
  expired: 'The approval expired after 24 hours: send the message again',
  changed: 'The message was changed after approval was requested, so it is not sent: send it again',
};

/** Checks a move before it happens, in the same commit. A message that moves into "Approved" is sent, or does not move. */
export async function beforeMove(
  rx: Read,
  { account, emails, into, actor }: EmailMove,
  { now }: Stamp,
): Promise<AllowedMove | Forbidden> {
  const mailboxes = await approvalMailboxes(rx, account);
  if (mailboxes === undefined) return PLAIN_MOVE;
  const pending = await pendingAmong(rx, account, emails);
  const [toApproved, toWaiting] = [into.includes(mailboxes.approved), into.includes(mailboxes.waiting)];
  if (pending.length === 0 && !toApproved && !toWaiting) return PLAIN_MOVE;
  if (!(await isHuman(rx, account, actor))) return forbidden(PERSON_REQUIRED);
  if (!toApproved && !toWaiting) return { kind: 'allowed', settle: (tx, stamp) => denyDeleted(tx, pending, stamp) };
  if (pending.length < new Set(emails).size) return forbidden(await whyNotPending(rx, account, emails));
  for (const row of toApproved ? pending : []) {
    const flaw = await findApprovalFlaw(rx, row, now);
    if (flaw !== undefined) return forbidden(FLAW_TEXT[flaw]);
  }
  return toApproved ? { kind: 'allowed', settle: (tx, stamp) => approveAll(tx, pending, stamp) } : PLAIN_MOVE;
}

async function approveAll(tx: Write, rows: readonly ApprovalRow[], stamp: Stamp): Promise<void> {
  for (const row of rows) await approve(tx, row, await addressOf(tx, row), stamp);
}

/** Denies messages that are in no mailbox any more, or in the trash. */
async function denyDeleted(tx: Write, rows: readonly ApprovalRow[], stamp: Stamp): Promise<void> {
  for (const row of rows) {
    if (!(await isFiled(tx, row))) await endApproval(tx, row, 'denied', await addressOf(tx, row), stamp);
  }
}

function forbidden(why: string): Forbidden {
  return { kind: 'forbidden', why };
}

async function pendingAmong(rx: Read, account: number, emails: readonly number[]): Promise<ApprovalRow[]> {
  return rx.all<ApprovalRow>(
    `SELECT ${APPROVAL} FROM approval INDEXED BY approval_email WHERE email_id IN (SELECT value FROM json_each(?))
       AND account_id = ? AND state = 'pending'`,
    JSON.stringify(emails),
    account,
  );
}

/** Explains why a message has no pending approval, by the newest decision about it. */
async function whyNotPending(rx: Read, account: number, emails: readonly number[]): Promise<string> {
  const decided = await rx.get<{ state: string }>(
    `SELECT state FROM approval INDEXED BY approval_email WHERE email_id IN (SELECT value FROM json_each(?))
       AND account_id = ? AND state <> 'pending' ORDER BY id DESC LIMIT 1`,
    JSON.stringify(emails),
    account,
  );
  if (decided === undefined) return NOT_PENDING;
  return FLAW_TEXT[decided.state === 'expired' ? 'expired' : 'decided'];
}

async function isFiled(rx: Read, { email_id: email }: ApprovalRow): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS kept FROM entry n INDEXED BY entry_email CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND m.deleted_at IS NULL AND m.role IS NOT 'trash'`,
    email,
  );
  return row !== undefined;
}

/** Address of the mailbox; its password proved the person. */
async function addressOf(rx: Read, { account_id: account }: ApprovalRow): Promise<string> {
  const row = await rx.get<{ address: string }>('SELECT address FROM account WHERE id = ?', account);
  return row?.address ?? '';
}
