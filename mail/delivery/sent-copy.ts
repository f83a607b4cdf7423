import type { MessageIndex } from '../message/index-types.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { SEEN } from '../store/mailbox/flags.ts';
import { addEntry } from '../store/message/entry.ts';
import { addEmail } from '../store/message/message.ts';

/** Puts a copy of what an account sent into its Sent mailbox, if it still has one; `by` is the agent that sent it. */
export async function fileCopy(
  tx: Write,
  account: number,
  { blob, index, by }: { blob: number; index: MessageIndex; by: string | null },
  stamp: Stamp,
): Promise<void> {
  const sent = await tx.get<{ id: number }>(
    `SELECT m.id FROM mailbox m JOIN account a ON a.id = m.account_id
     WHERE m.account_id = ? AND m.role = 'sent' AND m.deleted_at IS NULL AND a.state = 1`,
    account,
  );
  if (sent === undefined) return;
  const email = await addEmail(tx, { account, blob, index, trace: '', receivedAt: stamp.now, by });
  await addEntry(tx, sent.id, email, { bits: SEEN, kw: [] }, stamp);
}
