import type { Read } from './engine/types.ts';

/** The mailboxes in which people decide with a mail program; rows of `mailbox`. */
export interface ApprovalPlaces extends Record<string, number> {
  /** What awaits approval lies here. */
  waiting: number;
  /** What a person moves here is sent. */
  approved: number;
}

/** Those of an account; undefined where nothing ever waited. One of them may be gone. */
export function approvalPlaces(rx: Read, account: number): Promise<ApprovalPlaces | undefined> {
  return rx.get<ApprovalPlaces>('SELECT waiting, approved FROM approval_mailbox WHERE account_id = ?', account);
}

/** Whether a mailbox is one of the two: nothing is put there from outside, and it keeps its name. */
export async function isForApproval(rx: Read, account: number, mailbox: number): Promise<boolean> {
  const places = await approvalPlaces(rx, account);
  return places !== undefined && (places.waiting === mailbox || places.approved === mailbox);
}

/** Whether it is one of the two and something lies in it: then it stays. */
export async function holdsApprovals(rx: Read, account: number, mailbox: number): Promise<boolean> {
  if (!(await isForApproval(rx, account, mailbox))) return false;
  return (await rx.get('SELECT 1 AS there FROM entry WHERE mailbox_id = ? LIMIT 1', mailbox)) !== undefined;
}
