import type { Write } from '../engine/types.ts';
import { ANSWERED } from '../mailbox/flags.ts';
import { type Actor, isHuman } from '../actor.ts';
import { type MessageFlagChange, recordTrainingSamples, type MailboxKind, mailboxKinds } from './training-sample.ts';

/** Mailboxes in which a reply is no training sample: a reply to junk may ask the sender to stop. */
const UNWANTED_KINDS: readonly MailboxKind[] = ['junk', 'rejects', 'trash', 'sent', 'drafts'];

/**
 * Records a person's reply as a weak `good` sample: a later junk sample overrides it, since people also reply to
 * complain. Replies of tokens and programs do not count: a sender may have manipulated them.
 */
export async function recordReplySample(
  tx: Write,
  { account, mailbox, actor }: { account: number; mailbox: number; actor?: Actor | undefined },
  changes: readonly MessageFlagChange[],
): Promise<void> {
  const fresh = changes.filter(({ before, now }) => (now.bits & ~before.bits & ANSWERED) !== 0);
  if (fresh.length === 0 || !(await isHuman(tx, account, actor))) return;
  const kinds = await mailboxKinds(tx, account, [mailbox]);
  if (UNWANTED_KINDS.includes(kinds.get(mailbox)?.place ?? null)) return;
  await recordTrainingSamples(
    tx,
    account,
    fresh.map(({ email }) => email),
    'kept',
  );
}
