import { createHash, randomUUID } from 'node:crypto';
import { textKey } from '../message/address.ts';
import { type ParsedReport, type ReportedStatus, statusFor } from '../message/report.ts';
import { countReport, type SentCopy } from '../store/queue/sent-copies.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { recordJournalEvent } from '../store/journal/journal.ts';
import { isUnknownRecipient, suppress } from '../store/queue/suppression.ts';
import { recordReturned } from './anomaly-watch.ts';
import type { Delivery } from './types.ts';

/** A received report about one sent copy. */
export interface ReceivedReport {
  copy: SentCopy;
  /** Identifies the report among those about the same copy. */
  digest: string;
  effect: ReportEffect;
  /** Delivery of the report to the sender of the copy; null for none. */
  delivery: Delivery | null;
}

/** Effect of a report. */
export type ReportEffect =
  | { kind: 'failed' | 'reported'; status: ReportedStatus }
  /** The recipient complained about spam. */
  | { kind: 'complained'; feedback: string }
  /** A reply by a person or a program, without effect. */
  | { kind: 'answered' };

/** Feedback types that suppress the recipient. Others, such as `not-spam`, do not. RFC 5965 7.3. */
const COMPLAINTS = new Set(['abuse', 'fraud', 'opt-out', 'opt-out-list']);

/** Determines the effect of a report on a copy. */
export function reportEffect(report: ParsedReport, { recipient }: SentCopy): ReportEffect {
  if (report.kind === 'feedback') {
    return COMPLAINTS.has(report.type) ? { kind: 'complained', feedback: report.type } : { kind: 'answered' };
  }
  const status = statusFor(report, recipient);
  if (status === undefined) return { kind: 'answered' };
  return { kind: status.action === 'failed' ? 'failed' : 'reported', status };
}

/**
 * Computes the digest of a report; a repeated report has the same one. Replies without a Message-ID are always new.
 */
export function reportDigest(messageId: string, effect: ReportEffect): string {
  const id = messageId === '' && effect.kind === 'answered' ? randomUUID() : messageId;
  return createHash('sha256')
    .update(JSON.stringify([id, effect]))
    .digest('base64url')
    .slice(0, 16);
}

/**
 * Records a report in the transaction that accepts it: in the timeline of its message, and in the suppression list. Returns
 * true if the sender of the message gets it: duplicates are dropped.
 */
export async function recordReceivedReport(
  tx: Write,
  { copy, digest, effect }: ReceivedReport,
  report: string,
  stamp: Stamp,
): Promise<boolean> {
  const count = await countReport(tx, { id: copy.id, digest, at: stamp.now });
  // The receiver rejects reports above the limit; concurrent ones were already accepted, so they are delivered.
  if (count !== 'new') return count === 'enough';
  const { trace, account, tenant, recipient: to } = copy;
  const about = { tenant };
  switch (effect.kind) {
    case 'answered':
      await recordJournalEvent(tx, trace, 'answered', account, { to, report }, stamp, about);
      return true;
    case 'complained':
      await recordJournalEvent(
        tx,
        trace,
        'complained',
        account,
        { to, report, feedback: effect.feedback },
        stamp,
        about,
      );
      // Once per recipient: one recipient could send many reports about its copies.
      if (await suppressRecipient(tx, copy, 'complaint', effect.feedback, stamp)) {
        await recordReturned(tx, copy, { complaints: 1 }, stamp);
      }
      return true;
    case 'failed':
    case 'reported': {
      const { action, status, text, host } = effect.status;
      const event = effect.kind === 'failed' ? 'failed' : 'reported';
      await recordJournalEvent(tx, trace, event, account, { to, host, status, text, action, report }, stamp, about);
      if (effect.kind === 'failed' && isUnknownRecipient(status)) {
        const isNew = await suppressRecipient(tx, copy, 'hard_bounce', text, stamp);
        if (isNew) await recordReturned(tx, copy, { bounced: 1 }, stamp);
      }
      return true;
    }
  }
}

async function suppressRecipient(
  tx: Write,
  { tenant, trace, account, recipient }: SentCopy,
  reason: 'complaint' | 'hard_bounce',
  said: string,
  stamp: Stamp,
): Promise<boolean> {
  return suppress(tx, { tenant, key: textKey(recipient), reason, source: 'report', said, trace, account }, stamp);
}
