import { type MessageFacts, type MessageIndex, wholeIndex } from '../message/index-types.ts';
import { countUse } from '../store/alias-use.ts';
import { addBlob } from '../store/blob.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { newBlob } from '../store/entry-commands.ts';
import { note } from '../store/journal.ts';
import { enqueue, type NewQueueRow } from '../store/queue.ts';
import { collectBlob } from '../store/tidy.ts';
import { type Delivery, receive, sendOn } from './deliver.ts';
import { fileCopy } from './sent-copy.ts';
import type { Onward } from './forward.ts';

/** A message that leaves an account, a program, or the box itself. */
export interface Outgoing {
  trace: string;
  /** Null: a program, or the box itself. */
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
  /** TLS all the way, or it comes back. RFC 8689. */
  requireTls?: boolean;
  /** Recipients on this box get it in the same commit. */
  here: readonly Delivery[];
  /**
   * Recipients on this box as they were named, when they are not those of `here`: some only forward, and where to is none
   * of the sender's business.
   */
  local?: readonly string[];
  elsewhere: readonly NewQueueRow[];
  /** Copies that recipients on this box have forwarded. */
  onward?: readonly Onward[];
  /** The agent that sends it; null or left out: a person, a program, the box. */
  by?: string | null;
  /** Who is watched for it; '' or left out: nobody. */
  sentBy?: string;
  /** Account whose Sent mailbox gets a copy. */
  copyFor?: number | null;
  /** Why mail for elsewhere may not go out yet; null lets it go. */
  hold: string | null;
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  /** The whole index where somebody on this box gets it: recipients of `here`, or `copyFor`. */
  index: MessageFacts | MessageIndex;
  /** What its sender is told of recipients on this box, in the same commit. */
  report?: Outgoing;
  /** What was asked about those, for a message that waits: its report is made when it leaves. */
  wishes?: readonly Wish[];
}

/** What the sender asked to be told about one recipient. RFC 3461 4. */
export type Wish = Pick<NewQueueRow, 'recipient' | 'notify' | 'orcpt'>;

type Named = Pick<Outgoing, 'here' | 'local' | 'elsewhere'>;

/** Everybody whom the sender named. */
export function namedRecipients({ here, elsewhere, local = here.map((one) => one.to) }: Named): string[] {
  return [...local, ...elsewhere.map((row) => row.recipient)];
}

export interface Sent {
  /** Queue rows of the recipients elsewhere. */
  rows: number[];
  /** Something was queued, be it a copy that goes on: the relay may look. */
  queued: boolean;
}

/** Lets a message go: the end of the gate, and all of it for what the box itself has to say (bounces, letters). */
export async function send(tx: Write, mail: Outgoing, stamp: Stamp): Promise<Sent> {
  const blob = await addBlob(tx, newBlob(mail));
  await noteSubmitted(tx, mail, stamp);
  for (const delivery of mail.here)
    await receive(tx, { ...mail, index: wholeIndex(mail.index) }, delivery, blob, stamp);
  if (typeof mail.copyFor === 'number')
    await fileCopy(tx, mail.copyFor, { blob, index: wholeIndex(mail.index), by: mail.by ?? null }, stamp);
  if (mail.report !== undefined) await tellSender(tx, mail, mail.report, stamp);
  const { onward = [] } = mail;
  await countUse(tx, [...mail.here, ...onward], mail.sender, stamp);
  for (const one of onward) await sendOn(tx, mail, one, blob, stamp);
  if (mail.here.length + mail.elsewhere.length + onward.length === 0) await collectBlob(tx, blob);
  if (mail.elsewhere.length === 0) return { rows: [], queued: onward.length > 0 };
  const submission = { ...mail, blob, size: mail.index.size };
  return { rows: await enqueue(tx, submission, mail.elsewhere, mail.hold, stamp), queued: true };
}

/** Writes into the sender's story that a message was taken, and for whom. `outbox`: what it was while it waited. */
export async function noteSubmitted(
  tx: Write,
  mail: Pick<Outgoing, 'trace' | 'account' | 'tenant' | 'sender' | 'index'> & Named & { outbox?: number },
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
  await note(tx, trace, 'submitted', account, detail, stamp, { tenant, messageId: index.messageId });
}

/** RFC 3461 5.2.6: who asked is told of success, also by a box that is both ends. */
export async function tellSender(
  tx: Write,
  { trace, account, tenant }: Pick<Outgoing, 'trace' | 'account' | 'tenant'>,
  report: Outgoing,
  stamp: Stamp,
): Promise<void> {
  const to = report.here[0]?.to ?? report.elsewhere[0]?.recipient;
  if (to === undefined) return;
  await send(tx, report, stamp);
  await note(tx, trace, 'bounced', account, { kind: 'success', to, as: report.trace }, stamp, { tenant });
}
