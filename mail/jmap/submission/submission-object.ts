import type { EnvelopeAddress, StoredSubmission, SubmissionRecipient } from '../../store/jmap-submission.ts';
import { jmapId } from '../ids.ts';

export const SUBMISSION_PROPERTIES: ReadonlySet<string> = new Set([
  'id',
  'identityId',
  'emailId',
  'threadId',
  'envelope',
  'sendAt',
  'undoStatus',
  'deliveryStatus',
  'dsnBlobIds',
  'mdnBlobIds',
]);

/** RFC 8621 7. Reports are messages in the mailbox like others, so the lists of their blobs are empty. */
export function submissionObject(one: StoredSubmission) {
  return {
    id: jmapId('submission', one.id),
    identityId: jmapId('identity', one.identity),
    emailId: jmapId('email', one.email),
    threadId: jmapId('thread', one.thread),
    envelope: { mailFrom: one.mailFrom, rcptTo: one.rcptTo.map(addressOf) },
    sendAt: formatUtc(one.sendAt),
    undoStatus: one.undo,
    deliveryStatus: Object.fromEntries(one.rcptTo.map((to) => [to.email, statusOf(to)])),
    dsnBlobIds: [],
    mdnBlobIds: [],
  };
}

export type SubmissionObject = ReturnType<typeof submissionObject>;

function addressOf({ email, parameters }: SubmissionRecipient): EnvelopeAddress {
  return { email, parameters };
}

function statusOf({ reply, delivered, displayed }: SubmissionRecipient) {
  return { smtpReply: reply, delivered, displayed };
}

/** A UTCDate without a fraction that says nothing. RFC 8620 1.4. */
export function formatUtc(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
