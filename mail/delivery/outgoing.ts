import { requireIndex } from '../message/index-types.ts';
import { countAliasUse } from '../store/address/alias-use.ts';
import { addBlob } from '../store/blob/blob.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { newBlob } from '../store/mailbox/entry-commands.ts';
import { recordJournalEvent } from '../store/journal/journal.ts';
import { enqueue } from '../store/queue/queue.ts';
import { collectBlob } from '../store/retention/purge.ts';
import { storeDelivery, enqueueForward } from './deliver.ts';
import { fileCopy } from './sent-copy.ts';
import type { OutgoingMessage } from './types.ts';

type NamedRecipients = Pick<OutgoingMessage, 'here' | 'local' | 'elsewhere'>;

/** Lists all recipients as the sender named them. */
export function namedRecipients({ here, elsewhere, local = here.map((one) => one.to) }: NamedRecipients): string[] {
  return [...local, ...elsewhere.map((row) => row.recipient)];
}

export interface SendMessageResult {
  /** Queue rows of the remote recipients. */
  rows: number[];
  /** Something was queued, forwarded copies included. */
  queued: boolean;
}

/** Delivers and queues a message that passed every check. Only submission and `sendNotice` may call this: a test asserts it. */
export async function sendMessage(tx: Write, mail: OutgoingMessage, stamp: Stamp): Promise<SendMessageResult> {
  const blob = await addBlob(tx, newBlob(mail));
  await noteSubmitted(tx, mail, stamp);
  for (const delivery of mail.here)
    await storeDelivery(tx, { ...mail, index: requireIndex(mail.index) }, delivery, blob, stamp);
  if (typeof mail.copyFor === 'number')
    await fileCopy(tx, mail.copyFor, { blob, index: requireIndex(mail.index), by: mail.by ?? null }, stamp);
  const { onward = [] } = mail;
  const local = [...mail.here, ...onward];
  if (local.length > 0) await countAliasUse(tx, local, mail.sender, stamp);
  for (const one of onward) await enqueueForward(tx, mail, one, blob, stamp);
  if (mail.here.length + mail.elsewhere.length + onward.length === 0) await collectBlob(tx, blob);
  if (mail.elsewhere.length === 0) return { rows: [], queued: onward.length > 0 };
  const submission = { ...mail, blob, size: mail.index.size };
  return { rows: await enqueue(tx, submission, mail.elsewhere, mail.hold, stamp), queued: true };
}

/** Records the acceptance of a message in its timeline. `outbox`: its submission id while it waited. */
export async function noteSubmitted(
  tx: Write,
  mail: Pick<OutgoingMessage, 'trace' | 'account' | 'tenant' | 'sender' | 'index'> &
    NamedRecipients & { outbox?: number },
  stamp: Stamp,
): Promise<void> {
  const { trace, account, tenant, index, outbox, local: here = mail.here.map((one) => one.to) } = mail;
  const detail = {
    from: mail.sender,
    to: namedRecipients(mail),
    size: index.size,
    ...(here.length > 0 && { here }),
    ...(outbox !== undefined && { outbox }),
  };
  await recordJournalEvent(tx, trace, 'submitted', account, detail, stamp, { tenant, messageId: index.messageId });
}
