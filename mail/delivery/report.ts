import { createHash, randomUUID } from 'node:crypto';
import { textKey } from '../message/address.ts';
import { type Report, type ReportedStatus, statusFor } from '../message/report.ts';
import { countReport, type Departed } from '../store/departed.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { note } from '../store/journal.ts';
import { meansGone, suppress } from '../store/suppression.ts';
import type { Delivery } from './deliver.ts';
import { watchBack } from './watch.ts';

/** A report that came in, about one copy that left. */
export interface TakenReport {
  copy: Departed;
  /** Tells it from other reports about the same copy. */
  digest: string;
  said: Said;
  /** The mailbox of who sent the message, where the report goes and nothing else does; null for none. */
  delivery: Delivery | null;
}

/** What follows from a report. */
export type Said =
  | { kind: 'failed' | 'told'; status: ReportedStatus }
  /** The recipient calls the message spam. */
  | { kind: 'complained'; feedback: string }
  /** An answer of a person or a program; nothing follows. */
  | { kind: 'answered' };

/** Types of feedback that mean "write to me no more". Others, `not-spam` among them, do not. RFC 5965 7.3. */
const COMPLAINTS = new Set(['abuse', 'fraud', 'opt-out', 'opt-out-list']);

/** What a report says of a copy. */
export function saidOf(report: Report, { recipient }: Departed): Said {
  if (report.kind === 'feedback') {
    return COMPLAINTS.has(report.type) ? { kind: 'complained', feedback: report.type } : { kind: 'answered' };
  }
  const status = statusFor(report, recipient);
  if (status === undefined) return { kind: 'answered' };
  return { kind: status.action === 'failed' ? 'failed' : 'told', status };
}

/**
 * The same report, sent again and again, has the same digest. Answers without a Message-ID are each new: two that look
 * alike may still be two.
 */
export function digestOf(messageId: string, said: Said): string {
  const id = messageId === '' && said.kind === 'answered' ? randomUUID() : messageId;
  return createHash('sha256')
    .update(JSON.stringify([id, said]))
    .digest('base64url')
    .slice(0, 16);
}

/**
 * Writes down what a report says, in the commit that takes it: in the story of the message that it is about, and in the
 * list of those who are written to no more. Answers whether its sender is to have it: not what is known already.
 */
export async function takeReport(
  tx: Write,
  { copy, digest, said }: TakenReport,
  report: string,
  stamp: Stamp,
): Promise<boolean> {
  const count = await countReport(tx, { id: copy.id, digest, at: stamp.now });
  // The door refuses what is enough; what came at the same time as the last one was accepted, so its sender has it.
  if (count !== 'new') return count === 'enough';
  const { trace, account, tenant, recipient: to } = copy;
  const about = { tenant };
  switch (said.kind) {
    case 'answered':
      await note(tx, trace, 'answered', account, { to, report }, stamp, about);
      return true;
    case 'complained':
      await note(tx, trace, 'complained', account, { to, report, feedback: said.feedback }, stamp, about);
      // Once a recipient: a single one could send as many reports as are taken about its copies.
      if (await suppressed(tx, copy, 'complaint', said.feedback, stamp)) {
        await watchBack(tx, copy, { complaints: 1 }, stamp);
      }
      return true;
    case 'failed':
    case 'told': {
      const { action, status, text, host } = said.status;
      const event = said.kind === 'failed' ? 'failed' : 'reported';
      await note(tx, trace, event, account, { to, host, status, text, action, report }, stamp, about);
      if (said.kind === 'failed' && meansGone(status)) {
        const news = await suppressed(tx, copy, 'hard_bounce', text, stamp);
        if (news) await watchBack(tx, copy, { bounced: 1 }, stamp);
      }
      return true;
    }
  }
}

async function suppressed(
  tx: Write,
  { tenant, trace, account, recipient }: Departed,
  reason: 'complaint' | 'hard_bounce',
  said: string,
  stamp: Stamp,
): Promise<boolean> {
  return suppress(tx, { tenant, key: textKey(recipient), reason, source: 'report', said, trace, account }, stamp);
}
