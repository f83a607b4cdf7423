import { textKey } from '../message/address.ts';
import { findAnomaly } from '../policy/anomaly.ts';
import type { Budget } from '../store/limit/budget.ts';
import { recordCorrespondents, findUncontacted } from '../store/limit/budget.ts';
import type { SentCopy } from '../store/queue/sent-copies.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { pauseHoldReason, isRelaxed, pauseSender, type MonitoredSender } from '../store/limit/paused-sender.ts';
import { ownerOf } from '../store/queue/queue-lane.ts';
import { countSenderUse, senderUse, type SenderUse } from '../store/limit/sender-use.ts';
import type { OutgoingMessage } from './types.ts';

/** Returns the sender that is watched for anomalies: a mailbox, or the sending key; undefined for none. */
export function findWatchedSender(
  { tenant, account }: OutgoingMessage,
  budgets: readonly Budget[],
): MonitoredSender | undefined {
  const budget = budgets.find((one) => one.watched === true);
  return budget === undefined ? undefined : { sender: budget.subject, tenant, account };
}

/** Remote recipients, and those of them that are new to the sender. */
export interface NewRecipients {
  recipients: readonly string[];
  strangers: readonly string[];
}

/** Finds new recipients. Call it before the message is counted anywhere: afterwards they are not new. */
export async function findNewRecipients(tx: Write, mail: OutgoingMessage): Promise<NewRecipients> {
  const recipients = [...new Set(mail.elsewhere.map((row) => textKey(row.recipient)))];
  return { recipients, strangers: await findUncontacted(tx, ownerOf(mail), recipients) };
}

/** Counts a message and checks its sender. Returns the hold reason if the sender is or gets paused. */
export async function recordSent(
  tx: Write,
  watched: MonitoredSender,
  { trace, met }: { trace: string; met: NewRecipients },
  stamp: Stamp,
): Promise<string | undefined> {
  await recordCorrespondents(tx, ownerOf(watched), met.strangers, stamp.now);
  const counts = { recipients: met.recipients.length, strangers: met.strangers.length };
  await countSenderUse(tx, watched.sender, counts, stamp.now);
  await checkForAnomaly(tx, watched, trace, stamp);
  return pauseHoldReason(tx, watched.sender);
}

/** Counts a bounce, a complaint or a suppressed recipient of a sent copy. */
export async function recordReturned(
  tx: Write,
  { sent_by: sender, tenant, account, trace }: Pick<SentCopy, 'sent_by' | 'tenant' | 'account' | 'trace'>,
  counts: Partial<SenderUse>,
  stamp: Stamp,
): Promise<void> {
  if (sender === '') return;
  await countSenderUse(tx, sender, counts, stamp.now);
  await checkForAnomaly(tx, { sender, tenant, account }, trace, stamp);
}

/** Counts a queue row whose recipient does not exist. The row must still exist. */
export async function recordFailed(tx: Write, row: number, stamp: Stamp): Promise<void> {
  const copy = await tx.get<Pick<SentCopy, 'sent_by' | 'tenant' | 'account' | 'trace'>>(
    `SELECT s.sent_by, s.tenant, s.account_id AS account, s.trace FROM queue q
     JOIN submission s ON s.id = q.submission_id WHERE q.id = ?`,
    row,
  );
  if (copy !== undefined) await recordReturned(tx, copy, { bounced: 1 }, stamp);
}

async function checkForAnomaly(tx: Write, watched: MonitoredSender, trace: string, stamp: Stamp): Promise<void> {
  const { sender, account } = watched;
  const found = findAnomaly({
    kind: account === null ? 'key' : 'mailbox',
    ...(await senderUse(tx, sender, stamp.now)),
    eased: await isRelaxed(tx, sender, stamp.now),
  });
  if (found !== undefined) await pauseSender(tx, watched, { ...found, trace }, stamp);
}
