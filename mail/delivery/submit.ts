import type { MessageIndex } from '../message/index-types.ts';
import { textKey } from '../message/address.ts';
import { type Allowance, type OverAllowance, takeAllowance } from '../store/allowance.ts';
import { addBlob } from '../store/blob.ts';
import { command, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/entry-commands.ts';
import { note } from '../store/journal.ts';
import { enqueue, type NewQueueRow } from '../store/queue.ts';
import { type Delivery, deliverTo, sendOn } from './deliver.ts';
import type { Onward } from './forward.ts';

/** A message that leaves an account, or the box itself: the only way out. */
export interface Outgoing {
  trace: string;
  /** Null: the box itself. */
  account: number | null;
  tenant: number;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  smtputf8: boolean;
  eightBit: boolean;
  ret: string;
  envid: string;
  /** Domains of the authors, which were checked: their keys sign it, so that it passes DMARC. */
  signAs: readonly string[];
  /** Recipients on this box get it in the same commit. */
  here: readonly Delivery[];
  elsewhere: readonly NewQueueRow[];
  /** Copies that recipients on this box have forwarded. */
  onward?: readonly Onward[];
  /** Why mail for elsewhere may not go out yet; null lets it go. */
  hold: string | null;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  index: MessageIndex;
}

/**
 * Takes a submission: entries for those who are here, queue rows for the others, one commit. What is over the sender's
 * allowance is not taken, and leaves nothing.
 */
export const submit = command(
  'submit',
  async (
    tx,
    mail: Outgoing & { allowance: Allowance | null },
    stamp,
  ): Promise<{ kind: 'taken'; queued: number[] } | OverAllowance> => {
    const { tenant, allowance } = mail;
    const over =
      allowance === null ? undefined : await takeAllowance(tx, { tenant, allowance, recipients: keysOf(mail) }, stamp);
    return over ?? { kind: 'taken', queued: await send(tx, mail, stamp) };
  },
);

const keysOf = ({ here, elsewhere }: Outgoing): string[] =>
  [...here.map((delivery) => delivery.to), ...elsewhere.map((row) => row.recipient)].map(textKey);

/** The body of {@link submit} without a limit, for commands that send something as part of their own work. */
export async function send(tx: Write, mail: Outgoing, stamp: Stamp): Promise<number[]> {
  const blob = await addBlob(tx, newBlob(mail));
  for (const delivery of mail.here) await deliverTo(tx, delivery, blob, mail.index, stamp);
  const to = [...mail.here.map((delivery) => delivery.to), ...mail.elsewhere.map((row) => row.recipient)];
  const here = mail.here.map((delivery) => delivery.to);
  const detail = { from: mail.sender, to, size: mail.index.size, ...(here.length > 0 && { here }) };
  const about = { tenant: mail.tenant, messageId: mail.index.messageId };
  await note(tx, mail.trace, 'submitted', mail.account, detail, stamp, about);
  const { onward = [] } = mail;
  for (const one of onward) await sendOn(tx, mail, one, blob, stamp);
  if (mail.elsewhere.length === 0) return [];
  const { trace, tenant, account, sender, smtputf8, eightBit, ret, envid, signAs } = mail;
  const size = mail.index.size;
  return enqueue(
    tx,
    { trace, tenant, account, blob, sender, smtputf8, eightBit, ret, envid, signAs, size },
    mail.elsewhere,
    mail.hold,
    stamp,
  );
}
