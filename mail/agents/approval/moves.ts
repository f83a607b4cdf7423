import { approve, endApproval, findApprovalFlaw, type ApprovalFlaw } from './approval.ts';
import { APPROVAL, type ApprovalRow } from './approval-row.ts';
import { approvalMailboxes } from './mailbox.ts';
import {
  type AllowedMove,
  type EmailMove,
  type Forbidden,
  query,
  type Read,
  type Stamp,
  type Write,
} from '../../store/engine/types.ts';
import { entriesOf } from '../../store/message/entry.ts';
import { type Actor, isHuman } from '../../store/actor.ts';

const PLAIN_MOVE: AllowedMove = { kind: 'allowed', settle: () => Promise.resolve() };
const PERSON_REQUIRED =
  'This message awaits approval: a person decides, with a password of the mailbox or in the portal';
const OWNER_REQUIRED = 'You may not decide about mail of this mailbox: an owner approves it in the portal';
const PASSWORD_REQUIRED =
  'You signed in more than 15 minutes ago: approve the message in the portal, with your password';
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
  const bar = await decisionBar(rx, account, actor, toApproved ? now : 0);
  if (bar !== undefined) return forbidden(bar);
  const name = actor !== undefined && 'person' in actor ? actor.person.name : undefined;
  if (!toApproved && !toWaiting)
    return { kind: 'allowed', settle: (tx, stamp) => denyDeleted(tx, pending, name, stamp) };
  if (pending.length < new Set(emails).size) return forbidden(await whyNotPending(rx, account, emails));
  for (const row of toApproved ? pending : []) {
    const flaw = await findApprovalFlaw(rx, row, now);
    if (flaw !== undefined) return forbidden(FLAW_TEXT[flaw]);
  }
  return toApproved ? { kind: 'allowed', settle: (tx, stamp) => approveAll(tx, pending, name, stamp) } : PLAIN_MOVE;
}

/** Why the actor decides nothing about mail that awaits approval; `approvesAt`: the time of an approval, else 0. */
async function decisionBar(
  rx: Read,
  account: number,
  actor: Actor | undefined,
  approvesAt: number,
): Promise<string | undefined> {
  if (actor === undefined || !('person' in actor))
    return (await isHuman(rx, account, actor)) ? undefined : PERSON_REQUIRED;
  if (!actor.person.decides) return OWNER_REQUIRED;
  return approvesAt > actor.person.approvesUntil ? PASSWORD_REQUIRED : undefined;
}

/**
 * Returns why {@link beforeMove} refuses some of the messages of a MOVE that is more than one commit. `uids` are those in
 * `mailbox`.
 */
export const refusedMove = query(
  'refused-move',
  async (
    rx,
    { mailbox, uids, to, now, ...by }: Pick<EmailMove, 'account' | 'actor'> & MovedUids,
  ): Promise<Forbidden | undefined> => {
    // Nothing is refused without these mailboxes, and the messages need not be read.
    if ((await approvalMailboxes(rx, by.account)) === undefined) return undefined;
    const emails = (await entriesOf(rx, mailbox, uids)).map((row) => row.email_id);
    const result = await beforeMove(rx, { ...by, emails, into: [to] }, { now });
    return result.kind === 'forbidden' ? result : undefined;
  },
);

interface MovedUids {
  mailbox: number;
  uids: readonly number[];
  to: number;
  now: number;
}

async function approveAll(
  tx: Write,
  rows: readonly ApprovalRow[],
  name: string | undefined,
  stamp: Stamp,
): Promise<void> {
  for (const row of rows) await approve(tx, row, name ?? (await addressOf(tx, row)), stamp);
}

/** Denies messages that are in no mailbox any more, or in the trash. */
async function denyDeleted(
  tx: Write,
  rows: readonly ApprovalRow[],
  name: string | undefined,
  stamp: Stamp,
): Promise<void> {
  for (const row of rows) {
    if (!(await isFiled(tx, row))) await endApproval(tx, row, 'denied', name ?? (await addressOf(tx, row)), stamp);
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
