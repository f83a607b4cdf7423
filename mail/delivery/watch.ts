import { textKey } from '../message/address.ts';
import { anomaly } from '../policy/anomaly.ts';
import type { Budget } from '../store/budget.ts';
import { meet, strangers } from '../store/budget.ts';
import type { Departed } from '../store/departed.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { heldFor, isEased, pauseSender, type Watched } from '../store/paused-sender.ts';
import { ownerOf } from '../store/queue-lane.ts';
import { countUse, senderUse, type SenderUse } from '../store/sender-use.ts';
import type { Outgoing } from './outgoing.ts';

/** Who is watched for a message: a mailbox, else the key that sends; undefined where nobody is. */
export function watchedOf({ tenant, account }: Outgoing, budgets: readonly Budget[]): Watched | undefined {
  const budget = budgets.find((one) => one.watched === true);
  return budget === undefined ? undefined : { sender: budget.subject, tenant, account };
}

/** Recipients elsewhere, and who of them is a stranger to whoever sends. */
export interface Met {
  recipients: readonly string[];
  strangers: readonly string[];
}

/** To be asked before the message is counted anywhere else: then they are strangers no more. */
export async function metBy(tx: Write, mail: Outgoing): Promise<Met> {
  const recipients = [...new Set(mail.elsewhere.map((row) => textKey(row.recipient)))];
  return { recipients, strangers: await strangers(tx, ownerOf(mail), recipients) };
}

/** Counts a message. Answers why it is held, when its sender is paused, or is from now on. */
export async function watchSent(
  tx: Write,
  watched: Watched,
  { trace, met }: { trace: string; met: Met },
  stamp: Stamp,
): Promise<string | undefined> {
  await meet(tx, ownerOf(watched), met.strangers, stamp.now);
  const counts = { recipients: met.recipients.length, strangers: met.strangers.length };
  await countUse(tx, watched.sender, counts, stamp.now);
  await look(tx, watched, trace, stamp);
  return heldFor(tx, watched.sender);
}

/** Counts something that came back to whoever sent a copy, or that it should not have asked for. */
export async function watchBack(
  tx: Write,
  { sent_by: sender, tenant, account, trace }: Pick<Departed, 'sent_by' | 'tenant' | 'account' | 'trace'>,
  counts: Partial<SenderUse>,
  stamp: Stamp,
): Promise<void> {
  if (sender === '') return;
  await countUse(tx, sender, counts, stamp.now);
  await look(tx, { sender, tenant, account }, trace, stamp);
}

/** A server says that the recipient of a row of the queue, which is still there, does not exist. */
export async function watchFailed(tx: Write, row: number, stamp: Stamp): Promise<void> {
  const copy = await tx.get<Pick<Departed, 'sent_by' | 'tenant' | 'account' | 'trace'>>(
    `SELECT s.sent_by, s.tenant, s.account_id AS account, s.trace FROM queue q
     JOIN submission s ON s.id = q.submission_id WHERE q.id = ?`,
    row,
  );
  if (copy !== undefined) await watchBack(tx, copy, { bounced: 1 }, stamp);
}

async function look(tx: Write, watched: Watched, trace: string, stamp: Stamp): Promise<void> {
  const { sender, account } = watched;
  const found = anomaly({
    kind: account === null ? 'key' : 'mailbox',
    ...(await senderUse(tx, sender, stamp.now)),
    eased: await isEased(tx, sender, stamp.now),
  });
  if (found !== undefined) await pauseSender(tx, watched, { ...found, trace }, stamp);
}
