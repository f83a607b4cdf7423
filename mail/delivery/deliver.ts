import type { MessageIndex } from '../message/index-types.ts';
import { addBlob } from '../store/blob.ts';
import { command, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/entry-commands.ts';
import { note } from '../store/journal.ts';
import { noteArrival } from '../store/listener.ts';
import { enqueue } from '../store/queue.ts';
import type { Onward } from './forward.ts';
import { addEmail, addEntry } from '../store/message.ts';

/** One local recipient: where the message goes and the header lines that are this recipient's own. */
export interface Delivery {
  account: number;
  /** The recipient address as it was given. */
  to: string;
  /** `Return-Path` and `Delivered-To`, one character an octet, each line with its CRLF. */
  trace: string;
}

/** An accepted message: everything about it was decided before it came here. */
export interface Accepted {
  trace: string;
  sender: string;
  deliveries: readonly Delivery[];
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  index: MessageIndex;
  from: { ip: string; helo: string };
  /** Copies that go on to addresses elsewhere. */
  onward: readonly Onward[];
  /** The sender used 8BITMIME. */
  eightBit: boolean;
  /** Why mail for elsewhere may not go out yet; null lets it go. */
  hold: string | null;
}

/** Stores one message for all its recipients in one commit. The caller answers 250 only when this has resolved. */
export const deliver = command('deliver', async (tx, mail: Accepted, stamp): Promise<{ queued: number }> => {
  const blob = await addBlob(tx, newBlob(mail));
  for (const delivery of mail.deliveries) await deliverTo(tx, delivery, blob, mail.index, stamp);
  await note(tx, mail.trace, 'received', null, story(mail), stamp);
  for (const one of mail.onward) await sendOn(tx, mail, one, blob, stamp);
  return { queued: mail.onward.length };
});

/** Queues one copy that goes on. */
export async function sendOn(
  tx: Write,
  mail: Pick<Accepted, 'trace' | 'eightBit' | 'hold' | 'index'>,
  one: Onward,
  blob: number,
  stamp: Stamp,
): Promise<void> {
  const { row, tenant, sender, smtputf8, signAs, prefix } = one;
  const { trace, eightBit, hold, index } = mail;
  await note(tx, trace, 'forwarded', null, { to: row.recipient, from: sender }, stamp);
  const submission = {
    trace,
    tenant,
    account: null,
    blob,
    sender,
    smtputf8,
    eightBit,
    ret: '',
    envid: '',
    signAs,
    prefix,
  };
  await enqueue(tx, { ...submission, size: index.size }, [row], hold, stamp);
}

/** The header lines of one recipient's own, RFC 5321 4.4; one character an octet. */
export function deliveryTrace(sender: string, to: string): string {
  return Buffer.from(`Return-Path: <${sender}>\r\nDelivered-To: ${to}\r\n`).toString('latin1');
}

/** Puts a message into the inbox of one account. */
export async function deliverTo(
  tx: Write,
  { account, trace }: Delivery,
  blob: number,
  index: MessageIndex,
  stamp: Stamp,
): Promise<void> {
  const inbox = await tx.get<{ id: number; listener: number | null }>(
    `SELECT m.id, l.id AS listener FROM mailbox m LEFT JOIN listener l ON l.account_id = m.account_id
     WHERE m.account_id = ? AND m.role = 'inbox'`,
    account,
  );
  if (inbox === undefined) throw new Error(`account ${account} has no inbox`);
  const email = await addEmail(tx, { account, blob, index, trace, receivedAt: stamp.now });
  await addEntry(tx, inbox.id, email, { bits: 0, kw: [] }, stamp);
  if (inbox.listener !== null) await noteArrival(tx, { listener: inbox.listener, account, email: email.id }, stamp);
}

function story(mail: Accepted): Record<string, string | number | readonly string[]> {
  const to = mail.deliveries.map((delivery) => delivery.to);
  return { from: mail.sender, to, ip: mail.from.ip, helo: mail.from.helo, size: mail.index.size };
}
