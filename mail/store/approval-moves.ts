import { APPROVAL, approve, type ApprovalRow, endApproval, undecidable, type Undecidable } from './approval.ts';
import { approvalPlaces } from './approval-places.ts';
import type { Read, Stamp, Write } from './engine/types.ts';
import { type Hand, isPersons } from './hand.ts';

/** A change that only a person may make, or that would say something else than it does; a sentence without its full stop. */
export interface Forbidden {
  kind: 'forbidden';
  why: string;
}

/** What follows from a change that may be made. */
export interface Weighed {
  kind: 'weighed';
  /** Messages that it lets go. */
  approves: readonly ApprovalRow[];
  /** Messages that it refuses where they lie nowhere any more, or in the trash. */
  touches: readonly ApprovalRow[];
}

/** Emails of an account that go into mailboxes, or out of some. */
export interface Moving {
  account: number;
  emails: readonly number[];
  into: readonly number[];
  hand: Hand | undefined;
}

const NOTHING: Weighed = { kind: 'weighed', approves: [], touches: [] };
const PERSON = 'This awaits approval: a person decides about it, with a password of the mailbox or in the portal';
const NO_WAITING = 'Only mail that awaits approval can be moved there: nothing else would be sent';
const UNDECIDABLE: Readonly<Record<Undecidable, string>> = {
  decided: 'It was decided before: nothing is sent again',
  expired: 'It waited for more than 24 hours: whoever wrote it has to send it again',
  changed: 'It is not what was asked for any more, so it is not sent: whoever wrote it has to send it again',
};

/** Asked before anything moves, in the same commit. What moves into "Approved" is sent, or does not move. */
export async function weighMove(tx: Read, moving: Moving, { now }: Stamp): Promise<Weighed | Forbidden> {
  const { account, emails, into, hand } = moving;
  const places = await approvalPlaces(tx, account);
  if (places === undefined) return NOTHING;
  const pending = await pendingAmong(tx, account, emails);
  const [toApproved, toWaiting] = [into.includes(places.approved), into.includes(places.waiting)];
  if (pending.length === 0 && !toApproved && !toWaiting) return NOTHING;
  if (!(await isPersons(tx, account, hand))) return forbidden(PERSON);
  if (!toApproved && !toWaiting) return { kind: 'weighed', approves: [], touches: pending };
  if (pending.length < new Set(emails).size) return forbidden(await whyNot(tx, account, emails));
  for (const row of toApproved ? pending : []) {
    const flaw = await undecidable(tx, row, now);
    if (flaw !== undefined) return forbidden(UNDECIDABLE[flaw]);
  }
  return toApproved ? { kind: 'weighed', approves: pending, touches: [] } : NOTHING;
}

/** Carries out what a change says, when it was made. */
export async function settleMove(tx: Write, { approves, touches }: Weighed, stamp: Stamp): Promise<void> {
  for (const row of approves) await approve(tx, row, await addressOf(tx, row), stamp);
  for (const row of touches) {
    if (!(await isKept(tx, row))) await endApproval(tx, row, 'denied', await addressOf(tx, row), stamp);
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

/** Why some of these are no mail that waits: the newest decision about one of them says it. */
async function whyNot(rx: Read, account: number, emails: readonly number[]): Promise<string> {
  const decided = await rx.get<{ state: string }>(
    `SELECT state FROM approval INDEXED BY approval_email WHERE email_id IN (SELECT value FROM json_each(?))
       AND account_id = ? AND state <> 'pending' ORDER BY id DESC LIMIT 1`,
    JSON.stringify(emails),
    account,
  );
  if (decided === undefined) return NO_WAITING;
  return UNDECIDABLE[decided.state === 'expired' ? 'expired' : 'decided'];
}

async function isKept(rx: Read, { email_id: email }: ApprovalRow): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS kept FROM entry n INDEXED BY entry_email CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND m.gone_at IS NULL AND m.role IS NOT 'trash'`,
    email,
  );
  return row !== undefined;
}

/** Who opened the mailbox has its password: its address names them. */
async function addressOf(rx: Read, { account_id: account }: ApprovalRow): Promise<string> {
  const row = await rx.get<{ address: string }>('SELECT address FROM account WHERE id = ?', account);
  return row?.address ?? '';
}
