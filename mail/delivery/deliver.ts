import type { MessageFacts, MessageIndex } from '../message/index-types.ts';
import { hasExhaustedAlias, countAliasUse } from '../store/address/alias-use.ts';
import { lookupKeys, parseAddress } from '../message/address.ts';
import { addBlob } from '../store/blob/blob.ts';
import { onDeliver } from '../agents/hooks.ts';
import { isContentTainted, markEmail } from '../agents/taint/content.ts';
import { countForwardedCopy, isForwardLimitReached } from '../store/address/forwarder.ts';
import { type Command, command, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/mailbox/entry-commands.ts';
import { recordJournalEvent } from '../store/journal/journal.ts';
import { queueArrivalEvent } from '../store/notification/listener.ts';
import { enqueue } from '../store/queue/queue.ts';
import type { Filing } from './filing.ts';
import { type ReceivedReport, recordReceivedReport } from './received-report.ts';
import { storeKeywords } from '../store/mailbox/flags.ts';
import { recordFilterResult } from '../store/filter/filter-result.ts';
import { recordLocalOrigin } from '../store/message/local-origin.ts';
import { addEntry } from '../store/message/entry.ts';
import { addEmail } from '../store/message/message.ts';
import { notedKeys } from '../policy/noted-keys.ts';
import { recordSenderDelivery } from '../store/filter/sender.ts';
import { recordReject, rejectsMailbox } from '../store/filter/reject.ts';
import { collectBlob } from '../store/retention/purge.ts';
import { noteForVacation } from '../store/submission/vacation.ts';
import type { ForwardedCopy, Delivery } from './types.ts';

/** An accepted message with all decisions made. */
export interface AcceptedMessage {
  trace: string;
  sender: string;
  deliveries: readonly Delivery[];
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
  index: MessageIndex;
  from: { ip: string; helo: string };
  /** Forwarded copies to remote addresses. */
  onward: readonly ForwardedCopy[];
  /** Copies that are not forwarded, with the reason, for the timeline of the forward's tenant. */
  kept?: readonly { tenant: number; source: string; why: string }[];
  /** Reports in it about messages sent from here. */
  reports?: readonly ReceivedReport[];
  /** The sender used 8BITMIME. */
  eightBit: boolean;
  /** The sender used SMTPUTF8: forwarded copies need it too. */
  smtputf8?: boolean;
  /** Forwarded copies need REQUIRETLS. RFC 8689. */
  requireTls?: boolean;
  /** Reason why remote mail is held; null: none. */
  hold: string | null;
}

/**
 * Result of a delivery. `forward-limit`: a forward is over its daily limit; nothing was stored, and a new plan delivers
 * locally. `alias-expired`: nothing was stored.
 */
export type DeliverResult =
  | {
      kind: 'delivered';
      queued: number;
      /** False if no copy was stored, such as for a duplicate report or one about a program's mail. */
      stored: boolean;
      /** Forward sources that reached their daily limit. */
      reached: string[];
    }
  | { kind: 'forward-limit' }
  | { kind: 'alias-expired' };

async function storeMessage(tx: Write, mail: AcceptedMessage, stamp: Stamp): Promise<DeliverResult> {
  const sources = mail.onward.flatMap(({ source = '' }) => (source === '' ? [] : [source]));
  if (sources.length > 0 && (await isForwardLimitReached(tx, sources, stamp))) return { kind: 'forward-limit' };
  if (await hasExhaustedAlias(tx, [...mail.deliveries, ...mail.onward], stamp.now)) return { kind: 'alias-expired' };
  for (const { tenant, source, why } of mail.kept ?? []) {
    const about = { tenant, messageId: mail.index.messageId };
    await recordJournalEvent(tx, mail.trace, 'kept', null, { from: mail.sender, source, because: why }, stamp, about);
  }
  const deliveries = [...mail.deliveries];
  if (mail.reports !== undefined && mail.reports.length > 0) deliveries.push(...(await recordReports(tx, mail, stamp)));
  if (deliveries.length + mail.onward.length === 0) return { kind: 'delivered', queued: 0, stored: false, reached: [] };
  const blob = await addBlob(tx, newBlob(mail));
  let placed = mail.onward.length;
  for (const delivery of deliveries) placed += Number(await storeDelivery(tx, mail, delivery, blob, stamp));
  // Rejected mail that is stored nowhere.
  if (placed === 0) await collectBlob(tx, blob);
  await countAliasUse(tx, [...deliveries, ...mail.onward], mail.sender, stamp);
  const reached: string[] = [];
  for (const one of mail.onward) {
    if (await enqueueForward(tx, mail, one, blob, stamp)) reached.push(one.source ?? '');
  }
  return { kind: 'delivered', queued: mail.onward.length, stored: placed > 0, reached };
}

/** Stores one message for all its recipients in one commit. The caller answers 250 only when this has resolved. */
export const deliver: Command<AcceptedMessage, DeliverResult> = {
  ...command('deliver', storeMessage),
  keepsTo: accountsOfDelivery,
};

/**
 * Returns the accounts that a delivery keeps to. Undefined if it concerns what several share: forwards and their limits, reports
 * about submissions, aliases and their counts.
 */
function accountsOfDelivery(mail: AcceptedMessage): readonly number[] | undefined {
  const { deliveries, onward, kept = [], reports = [] } = mail;
  if (onward.length + kept.length + reports.length > 0) return undefined;
  const keepsToAccounts = deliveries.every(
    ({ aliases = [], filing }) => aliases.length === 0 && filing?.folder !== 'rejects',
  );
  return keepsToAccounts ? deliveries.map(({ account }) => account) : undefined;
}

/** Records the reports in a message; returns deliveries that are due to them alone. */
async function recordReports(
  tx: Write,
  { reports = [], trace, deliveries }: AcceptedMessage,
  stamp: Stamp,
): Promise<Delivery[]> {
  const more = new Map<number, Delivery>();
  for (const report of reports) {
    const isNew = await recordReceivedReport(tx, report, trace, stamp);
    if (isNew && report.delivery !== null) more.set(report.delivery.account, report.delivery);
  }
  for (const { account } of deliveries) more.delete(account);
  return [...more.values()];
}

/** Queues one forwarded copy. Returns true if its forward has reached its daily limit. */
export async function enqueueForward(
  tx: Write,
  mail: Pick<AcceptedMessage, 'trace' | 'sender' | 'eightBit' | 'smtputf8' | 'requireTls' | 'hold'> & {
    index: MessageFacts;
  },
  one: ForwardedCopy,
  blob: number,
  stamp: Stamp,
): Promise<boolean> {
  const { row, tenant, sender, smtputf8, signAs, prefix, source = '', arc = '' } = one;
  const { trace, eightBit, requireTls = false, hold, index } = mail;
  const detail = { from: mail.sender, to: row.recipient, as: sender, ...(source !== '' && { source }) };
  await recordJournalEvent(tx, trace, 'forwarded', null, detail, stamp, { tenant, messageId: index.messageId });
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
  return source !== '' && countForwardedCopy(tx, source, stamp);
}

/** Header lines of one recipient, RFC 5321 4.4; one character per octet. */
export function deliveryTrace(sender: string, to: string): string {
  return Buffer.from(`Return-Path: <${sender}>\r\nDelivered-To: ${to}\r\n`).toString('latin1');
}

/** Stores a message in a mailbox of one account and records it in its timeline. False: not stored. */
export async function storeDelivery(
  tx: Write,
  mail: Pick<AcceptedMessage, 'trace' | 'sender' | 'index'> & {
    from?: AcceptedMessage['from'];
    /** Account that submitted it here. */
    account?: number | null;
    tenant?: number;
  },
  delivery: Delivery,
  blob: number,
  stamp: Stamp,
): Promise<boolean> {
  const { trace, sender, index, from } = mail;
  const { account, to, filing } = delivery;
  const copy = await deliverTo(tx, delivery, blob, index, stamp);
  if (copy === undefined) return false;
  const { email } = copy;
  // Not for programs, which pass on outside content, nor for automatic mail with the null sender.
  const { account: writer = null, tenant } = mail;
  if (writer !== null && tenant !== undefined && sender !== '') await recordLocalOrigin(tx, email, tenant);
  if (writer !== null && (await isContentTainted(tx, `trace/${trace}`))) await markEmail(tx, account, email);
  if (copy.mayHaveCanaries) await onDeliver(tx, { account, keys: keysOf(to), sender }, stamp);
  const detail = { from: sender, to: [to], size: index.size, email, ...from, ...(filing && verdictDetails(filing)) };
  const event = filing?.folder === 'rejects' ? 'refused' : 'received';
  await recordJournalEvent(tx, trace, event, account, detail, stamp, { messageId: index.messageId });
  return true;
}

function keysOf(recipient: string): string[] {
  const address = parseAddress(recipient);
  return address === undefined ? [] : lookupKeys(address);
}

/** Verdict details for the journal. */
function verdictDetails({ verdict: { outcome, score, findings } }: Filing): {
  folder: string;
  score: number;
  because: string[];
} {
  return { folder: outcome, score, because: findings.map(({ why }) => why) };
}

/** A message that was stored in a mailbox. */
export interface StoredCopy {
  email: number;
  /** False: no canary of the account can have been written to. */
  mayHaveCanaries: boolean;
}

/** Stores a message in a mailbox of one account. Undefined: rejected mail is not kept. */
export async function deliverTo(
  tx: Write,
  { account, trace, quiet, filing, evenIfDeleted }: Delivery,
  blob: number,
  index: MessageIndex,
  stamp: Stamp,
): Promise<StoredCopy | undefined> {
  const { folder = 'inbox', keywords = [] } = filing ?? {};
  const own = trace + (filing?.trace ?? '');
  const size = own.length + index.size;
  const target =
    folder === 'rejects'
      ? await findRejectsMailbox(tx, { account, size }, stamp)
      : await findTargetMailbox(tx, account, folder, evenIfDeleted);
  if (target === undefined) return undefined;
  const email = await addEmail(tx, { account, blob, index, trace: own, receivedAt: stamp.now });
  const flags =
    keywords.length === 0 ? undefined : await storeKeywords(tx, account, { bits: 0, keywords }, { by: null });
  const placed = await addEntry(tx, target.mailbox, email, flags ?? { bits: 0, kw: [] }, stamp);
  if (filing !== undefined) await storeVerdict(tx, account, email.id, filing, stamp);
  if (folder === 'rejects')
    await recordReject(tx, { account, email: email.id, mailbox: target.mailbox, placed }, stamp);
  const { listener, away } = target;
  if (away === 1 && folder === 'inbox') await noteForVacation(tx, { account, email: email.id }, stamp);
  if (listener !== null && quiet !== true) await queueArrivalEvent(tx, { listener, account, email: email.id }, stamp);
  return { email: email.id, mayHaveCanaries: target.canaries === 1 };
}

async function storeVerdict(tx: Write, account: number, email: number, filing: Filing, stamp: Stamp): Promise<void> {
  await recordFilterResult(tx, email, filing);
  // Rejected mail does not count for the sender's reputation.
  if (filing.folder === 'rejects') return;
  await recordSenderDelivery(tx, { account, keys: notedKeys(filing.senders), junk: filing.folder === 'junk' }, stamp);
}

/** Target mailbox, listeners to notify, and 1 if the account may have canaries. */
interface TargetMailbox extends Record<string, number | null> {
  mailbox: number;
  listener: number | null;
  away: number | null;
  canaries: number;
}

async function findTargetMailbox(
  tx: Write,
  account: number,
  folder: 'inbox' | 'junk',
  evenIfDeleted = false,
): Promise<TargetMailbox | undefined> {
  const target = await tx.get<TargetMailbox & { mailbox: number }>(
    // An account that was deleted since RCPT takes no more mail.
    `SELECT m.id AS mailbox, l.id AS listener, v.enabled AS away,
       EXISTS (SELECT 1 FROM canary WHERE account_id = ?1) AS canaries
     FROM mailbox m JOIN account a ON a.id = m.account_id AND (a.state < 2 OR a.state = 3 AND ?3 = 1)
       LEFT JOIN listener l ON l.account_id = m.account_id AND a.state < 2
       LEFT JOIN vacation v ON v.account_id = m.account_id AND a.state < 2
     WHERE m.account_id = ?1 AND m.role = ?2`,
    account,
    folder,
    Number(evenIfDeleted),
  );
  // Junk may have been deleted.
  if (target === undefined && folder === 'junk') return findTargetMailbox(tx, account, 'inbox', evenIfDeleted);
  if (target === undefined && !evenIfDeleted) throw new Error(`account ${account} has no inbox or was deleted`);
  return target;
}

/** Finds the Rejects mailbox. No notifications for rejected mail. */
async function findRejectsMailbox(
  tx: Write,
  message: { account: number; size: number },
  stamp: Stamp,
): Promise<TargetMailbox | undefined> {
  const mailbox = await rejectsMailbox(tx, message, stamp);
  return mailbox === undefined ? undefined : { mailbox, listener: null, away: null, canaries: 1 };
}
