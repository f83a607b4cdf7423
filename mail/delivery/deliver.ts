import type { MessageIndex } from '../message/index-types.ts';
import { noteArrival } from '../store/arrival.ts';
import { addBlob } from '../store/blob.ts';
import { command, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/entry-commands.ts';
import { note } from '../store/journal.ts';
import { enqueue } from '../store/queue.ts';
import type { Onward } from './forward.ts';
import { type TakenReport, takeReport } from './report.ts';
import { addEmail, addEntry } from '../store/message.ts';

/** One local recipient: where the message goes and the header lines that are this recipient's own. */
export interface Delivery {
  account: number;
  /** The recipient address as it was given. */
  to: string;
  /** `Return-Path` and `Delivered-To`, one character an octet, each line with its CRLF. */
  trace: string;
  /** Nobody outside is told of it. */
  quiet?: boolean;
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
  /** What it is, when it is a report about messages that left from here. */
  reports?: readonly TakenReport[];
  /** The sender used 8BITMIME. */
  eightBit: boolean;
  /** Why mail for elsewhere may not go out yet; null lets it go. */
  hold: string | null;
}

/**
 * Stores one message for all its recipients in one commit. The caller answers 250 only when this has resolved. `kept` is
 * false when nobody has its octets: a report about what a program sent, or one that is known, ends here.
 */
export const deliver = command(
  'deliver',
  async (tx, mail: Accepted, stamp): Promise<{ queued: number; kept: boolean }> => {
    await note(tx, mail.trace, 'received', null, story(mail), stamp);
    const deliveries = [...mail.deliveries, ...(await reported(tx, mail, stamp))];
    if (deliveries.length + mail.onward.length === 0) return { queued: 0, kept: false };
    const blob = await addBlob(tx, newBlob(mail));
    for (const delivery of deliveries) await deliverTo(tx, delivery, blob, mail.index, stamp);
    for (const one of mail.onward) await sendOn(tx, mail, one, blob, stamp);
    return { queued: mail.onward.length, kept: true };
  },
);

/** Takes what a message reports, and answers the mailboxes that are to have it for that reason only. */
async function reported(tx: Write, { reports = [], trace, deliveries }: Accepted, stamp: Stamp): Promise<Delivery[]> {
  const more = new Map<number, Delivery>();
  for (const report of reports) {
    const isNew = await takeReport(tx, report, trace, stamp);
    if (isNew && report.delivery !== null) more.set(report.delivery.account, report.delivery);
  }
  for (const { account } of deliveries) more.delete(account);
  return [...more.values()];
}

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
  { account, trace, quiet }: Delivery,
  blob: number,
  index: MessageIndex,
  stamp: Stamp,
): Promise<void> {
  const inbox = await tx.get<{ id: number; announce: number }>(
    `SELECT m.id, a.announce FROM mailbox m JOIN account a ON a.id = m.account_id WHERE m.account_id = ? AND m.role = 'inbox'`,
    account,
  );
  if (inbox === undefined) throw new Error(`account ${account} has no inbox`);
  const email = await addEmail(tx, { account, blob, index, trace, receivedAt: stamp.now });
  await addEntry(tx, inbox.id, email, { bits: 0, kw: [] }, stamp);
  if (inbox.announce === 1 && quiet !== true) await noteArrival(tx, account, email.id, stamp);
}

function story(mail: Accepted): Record<string, string | number | readonly string[]> {
  const to = mail.deliveries.map((delivery) => delivery.to);
  const about = (mail.reports ?? []).map((report) => report.copy.trace);
  const { sender: from, index } = mail;
  return { from, to, ip: mail.from.ip, helo: mail.from.helo, size: index.size, ...(about.length > 0 && { about }) };
}
