import type { MessageFacts, MessageIndex } from '../message/index-types.ts';
import { anyOver, countUse } from '../store/alias-use.ts';
import { parseAddress } from '../message/address.ts';
import { addBlob } from '../store/blob.ts';
import { noteCanaryMail } from '../store/canary-commands.ts';
import { countCopy, isSpent } from '../store/forwarder.ts';
import { command, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/entry-commands.ts';
import { note } from '../store/journal.ts';
import { noteArrival } from '../store/listener.ts';
import { enqueue } from '../store/queue.ts';
import type { Filing } from './filing.ts';
import type { Onward } from './forward.ts';
import { type TakenReport, takeReport } from './report.ts';
import { storeKeywords } from '../store/flags.ts';
import { lookupKeys } from './route.ts';
import { keepJudged } from '../store/judged.ts';
import { noteWrittenHere } from '../store/written-here.ts';
import { addEmail, addEntry } from '../store/message.ts';
import { notedKeys } from '../policy/noted-keys.ts';
import { noteSender } from '../store/sender.ts';
import { noteReject, rejectsMailbox } from '../store/reject.ts';
import { collectBlob } from '../store/tidy.ts';
import { noteForVacation } from '../store/vacation.ts';

/** One local recipient: where the message goes and the header lines that are this recipient's own. */
export interface Delivery {
  account: number;
  /** The recipient address as it was given. */
  to: string;
  /** `Return-Path` and `Delivered-To`, one character an octet, each line with its CRLF. */
  trace: string;
  /** Those by which it came: they count it, and may take no more. */
  aliases?: readonly number[];
  /** Nobody outside is told of it. */
  quiet?: boolean;
  /** What was decided about it for this account; without one it goes to the inbox, and nothing is said of it. */
  filing?: Filing;
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
  /** What does not go on and why, for the story that the tenant of the forward is told. */
  kept?: readonly { tenant: number; source: string; why: string }[];
  /** What it is, when it is a report about messages that left from here. */
  reports?: readonly TakenReport[];
  /** The sender used 8BITMIME. */
  eightBit: boolean;
  /** The sender used SMTPUTF8: copies that go on need it as well. */
  smtputf8?: boolean;
  /** Copies that go on need TLS all the way. RFC 8689 */
  requireTls?: boolean;
  /** Why mail for elsewhere may not go out yet; null lets it go. */
  hold: string | null;
}

/**
 * `spent`: a forward would send on more than it may today. Nothing was done, and a new plan will keep the mail here.
 * `over`: nothing was done either, as an alias takes no more.
 */
export type Delivered =
  | {
      kind: 'delivered';
      queued: number;
      /** False when nobody has its octets: a report about what a program sent, or one that is known, ends here. */
      stored: boolean;
      /** Addresses that have sent on all they may today. */
      reached: string[];
    }
  | { kind: 'spent' }
  | { kind: 'over' };

/** Stores one message for all its recipients in one commit. The caller answers 250 only when this has resolved. */
export const deliver = command('deliver', async (tx, mail: Accepted, stamp): Promise<Delivered> => {
  const sources = mail.onward.flatMap(({ source = '' }) => (source === '' ? [] : [source]));
  if (await isSpent(tx, sources, stamp)) return { kind: 'spent' };
  if (await anyOver(tx, [...mail.deliveries, ...mail.onward], stamp.now)) return { kind: 'over' };
  for (const { tenant, source, why } of mail.kept ?? []) {
    const about = { tenant, messageId: mail.index.messageId };
    await note(tx, mail.trace, 'kept', null, { from: mail.sender, source, because: why }, stamp, about);
  }
  const deliveries = [...mail.deliveries, ...(await reported(tx, mail, stamp))];
  if (deliveries.length + mail.onward.length === 0) return { kind: 'delivered', queued: 0, stored: false, reached: [] };
  const blob = await addBlob(tx, newBlob(mail));
  let placed = mail.onward.length;
  for (const delivery of deliveries) placed += Number(await receive(tx, mail, delivery, blob, stamp));
  // Of refused mail that has no place to be kept nothing stays.
  if (placed === 0) await collectBlob(tx, blob);
  await countUse(tx, [...deliveries, ...mail.onward], mail.sender, stamp);
  const reached: string[] = [];
  for (const one of mail.onward) {
    if (await sendOn(tx, mail, one, blob, stamp)) reached.push(one.source ?? '');
  }
  return { kind: 'delivered', queued: mail.onward.length, stored: placed > 0, reached };
});

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

/** Queues one copy that goes on. Answers whether its forward may send on nothing more today. */
export async function sendOn(
  tx: Write,
  mail: Pick<Accepted, 'trace' | 'sender' | 'eightBit' | 'smtputf8' | 'requireTls' | 'hold'> & { index: MessageFacts },
  one: Onward,
  blob: number,
  stamp: Stamp,
): Promise<boolean> {
  const { row, tenant, sender, smtputf8, signAs, prefix, source = '', arc = '' } = one;
  const { trace, eightBit, requireTls = false, hold, index } = mail;
  const told = { from: mail.sender, to: row.recipient, as: sender, ...(source !== '' && { source }) };
  await note(tx, trace, 'forwarded', null, told, stamp, { tenant, messageId: index.messageId });
  const submission = {
    trace,
    tenant,
    account: null,
    blob,
    sender,
    smtputf8: smtputf8 || mail.smtputf8 === true,
    eightBit,
    ret: '',
    envid: '',
    signAs,
    prefix,
    requireTls,
    arc,
  };
  await enqueue(tx, { ...submission, size: index.size }, [row], hold, stamp);
  return source !== '' && countCopy(tx, source, stamp);
}

/** The header lines of one recipient's own, RFC 5321 4.4; one character an octet. */
export function deliveryTrace(sender: string, to: string): string {
  return Buffer.from(`Return-Path: <${sender}>\r\nDelivered-To: ${to}\r\n`).toString('latin1');
}

/** Puts a message into a mailbox of one account and into its story: what others got is none of its business. False: nowhere. */
export async function receive(
  tx: Write,
  mail: Pick<Accepted, 'trace' | 'sender' | 'index'> & {
    from?: Accepted['from'];
    /** Of the mailbox that sent it, when it was handed in here. */
    account?: number | null;
    tenant?: number;
  },
  delivery: Delivery,
  blob: number,
  stamp: Stamp,
): Promise<boolean> {
  const { trace, sender, index, from } = mail;
  const { account, to, filing } = delivery;
  const email = await deliverTo(tx, delivery, blob, index, stamp);
  if (email === undefined) return false;
  // A program writes what strangers give it, and under the null sender goes what nobody wrote.
  const { account: writer = null, tenant } = mail;
  if (writer !== null && tenant !== undefined && sender !== '') await noteWrittenHere(tx, email, tenant);
  await noteCanaryMail(tx, { account, keys: () => keysOf(to), sender }, stamp);
  const told = { from: sender, to: [to], size: index.size, email, ...from, ...(filing && said(filing)) };
  const event = filing?.folder === 'rejects' ? 'refused' : 'received';
  await note(tx, trace, event, account, told, stamp, { messageId: index.messageId });
  return true;
}

function keysOf(recipient: string): string[] {
  const address = parseAddress(recipient);
  return address === undefined ? [] : lookupKeys(address);
}

/** The verdict as the story tells it. */
function said({ verdict: { outcome, score, findings } }: Filing): { folder: string; score: number; because: string[] } {
  return { folder: outcome, score, because: findings.map(({ why }) => why) };
}

/**
 * Puts a message into a mailbox of one account. Answers the id that it has there, or undefined where refused mail has no
 * place to be kept.
 */
export async function deliverTo(
  tx: Write,
  { account, trace, quiet, filing }: Delivery,
  blob: number,
  index: MessageIndex,
  stamp: Stamp,
): Promise<number | undefined> {
  const { folder = 'inbox', keywords = [] } = filing ?? {};
  const own = trace + (filing?.trace ?? '');
  const size = own.length + index.size;
  const place =
    folder === 'rejects' ? await refusedPlace(tx, { account, size }, stamp) : await placeOf(tx, account, folder);
  if (place === undefined) return undefined;
  const email = await addEmail(tx, { account, blob, index, trace: own, receivedAt: stamp.now });
  const flags = keywords.length === 0 ? undefined : await storeKeywords(tx, account, { bits: 0, keywords });
  const placed = await addEntry(tx, place.mailbox, email, flags ?? { bits: 0, kw: [] }, stamp);
  if (filing !== undefined) await keepVerdict(tx, account, email.id, filing, stamp);
  if (folder === 'rejects') await noteReject(tx, { account, email: email.id, mailbox: place.mailbox, placed }, stamp);
  const { listener, away } = place;
  if (away === 1 && folder === 'inbox') await noteForVacation(tx, { account, email: email.id }, stamp);
  if (listener !== null && quiet !== true) await noteArrival(tx, { listener, account, email: email.id }, stamp);
  return email.id;
}

async function keepVerdict(tx: Write, account: number, email: number, filing: Filing, stamp: Stamp): Promise<void> {
  await keepJudged(tx, email, filing);
  // Who was refused has not been here.
  if (filing.folder === 'rejects') return;
  await noteSender(tx, { account, keys: notedKeys(filing.senders), junk: filing.folder === 'junk' }, stamp);
}

/** Where a message is put, and who is told of it. */
interface Place extends Record<string, number | null> {
  mailbox: number;
  listener: number | null;
  away: number | null;
}

async function placeOf(tx: Write, account: number, folder: 'inbox' | 'junk'): Promise<Place> {
  const place = await tx.get<Place & { mailbox: number }>(
    // A person may have deleted Junk: nothing is lost for that.
    `SELECT m.id AS mailbox, l.id AS listener, v.enabled AS away FROM mailbox m
       LEFT JOIN listener l ON l.account_id = m.account_id LEFT JOIN vacation v ON v.account_id = m.account_id
     WHERE m.account_id = ?1 AND m.role IN ('inbox', ?2) ORDER BY m.role = ?2 DESC LIMIT 1`,
    account,
    folder,
  );
  if (place === undefined) throw new Error(`account ${account} has no inbox`);
  return place;
}

/** Nobody is told of what was refused. */
async function refusedPlace(
  tx: Write,
  message: { account: number; size: number },
  stamp: Stamp,
): Promise<Place | undefined> {
  const mailbox = await rejectsMailbox(tx, message, stamp);
  return mailbox === undefined ? undefined : { mailbox, listener: null, away: null };
}
