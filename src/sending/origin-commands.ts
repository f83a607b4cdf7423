import type { Submitted } from '../../mail/delivery/submit.ts';
import { changeEmails, destroyEmails } from '../../mail/store/email-change-commands.ts';
import type { Read, Stamp, Write } from '../../mail/store/engine/types.ts';
import { ANSWERED, type FlagSet } from '../../mail/store/flags.ts';
import { isDraft } from './draft-queries.ts';

/** What a message that leaves was made from, in the mailbox that sends it. */
interface Origin {
  /** Null: a program, which has no mailbox. */
  account: number | null;
  answers: number | null;
  forwards: number | null;
  draft: number | null;
}

/** Whether the draft that a message is made from is still there as it was; true where it is made from none. */
export async function isDraftThere(rx: Read, { account, draft }: Origin): Promise<boolean> {
  return draft === null || isDraft(rx, account, draft);
}

/**
 * What a mail program does when it has sent: the draft goes, and what was answered or passed on is marked so. What waits
 * for a person may never leave, so it marks nothing.
 */
export async function followUp(
  tx: Write,
  { account, answers, forwards, draft }: Origin,
  done: Extract<Submitted, { kind: 'taken' | 'waits' }>,
  stamp: Stamp,
): Promise<void> {
  if (account === null) return;
  if (draft !== null) await destroyEmails.run(tx, { account, emails: [draft], ifState: null }, stamp);
  if (done.kind === 'waits' && done.heldBecause !== null) return;
  if (answers !== null) await mark(tx, account, answers, { bits: ANSWERED, keywords: [] }, stamp);
  if (forwards !== null) await mark(tx, account, forwards, { bits: 0, keywords: ['$Forwarded'] }, stamp);
}

async function mark(tx: Write, account: number, email: number, add: FlagSet, stamp: Stamp): Promise<void> {
  const keywords = { kind: 'patch', add, remove: { bits: 0, keywords: [] } } as const;
  await changeEmails.run(tx, { account, changes: [{ email, keywords, mailboxes: null }], ifState: null }, stamp);
}
