import { z } from 'zod';
import { publicId } from '../core/ids.ts';
import { isoOrNull } from '../core/schemas.ts';
import { RECIPIENT_SOURCES } from './outbound.ts';
import type { SentEmail } from './sent-queries.ts';

/** Result of a send request, the same for every endpoint. */
export const SendResult = z.object({
  id: z.string().nullable(),
  messageId: z.string().nullable(),
  status: z.enum(['queued', 'scheduled', 'pending_approval', 'dry_run']),
  rfc822MessageId: z.string(),
  /** Thread in the author's mailbox. */
  threadId: z.string().nullable(),
  recipients: z.array(
    z.object({
      address: z.string(),
      state: z.enum(['queued', 'held', 'delivered', 'scheduled', 'suppressed']),
      source: z.enum(RECIPIENT_SOURCES).optional().describe('field of the answered message; left out if you named it'),
    }),
  ),
  envelope: z.object({ mailFrom: z.string(), rcptTo: z.array(z.string()) }),
  sha256: z.string(),
  scheduledAt: z.string().nullable(),
  outboxId: z.string().nullable(),
  approveUrl: z.string().nullable().describe('page where a person approves it'),
  reasons: z.array(z.string()).describe('why it awaits approval, and remarks on its recipients'),
  duplicateOf: z.string().nullable(),
  budget: z
    .object({
      messages: z.number().nullable(),
      recipients: z.number().nullable(),
      newRecipients: z.number().nullable(),
    })
    .nullable()
    .describe('remaining, by the tightest limit; null: no limit'),
});
export type SendResult = z.output<typeof SendResult>;

type SentFacts = Omit<SentEmail, 'id'>;

/** Builds the result of a message; for a repeated request `duplicateOf` names the first. */
export function sendResult(
  sent: SentEmail,
  threadId: string | null,
  { repeated, ...more }: { repeated: boolean } & Pick<SendResult, 'status' | 'budget' | 'approveUrl'>,
): SendResult {
  const id = publicId('sent', sent.id);
  return { ...facts(sent, id, threadId), ...more, duplicateOf: repeated ? id : null };
}

/** Builds the result of a dry run. */
export function dryRunResult(sent: SentFacts, threadId: string | null, budget: SendResult['budget']): SendResult {
  return { ...facts(sent, null, threadId), status: 'dry_run', approveUrl: null, duplicateOf: null, budget };
}

function facts(
  sent: SentFacts,
  id: string | null,
  threadId: string | null,
): Omit<SendResult, 'status' | 'approveUrl' | 'duplicateOf' | 'budget'> {
  const { messageId, sender, recipients, sha256, scheduledAt, outbox } = sent;
  const rcptTo: string[] = [];
  const reasons = [...sent.reasons];
  for (const { address, state, source } of recipients) {
    if (state !== 'suppressed') rcptTo.push(address);
    // Replies may be diverted to somebody else.
    if (source === 'reply_to') reasons.push(`${address} is in its Reply-To and not in its From`);
  }
  return {
    id,
    messageId: id,
    rfc822MessageId: messageId,
    threadId,
    recipients: recipients.map(({ field: _field, ...one }) => one),
    envelope: { mailFrom: sender, rcptTo },
    sha256,
    scheduledAt: isoOrNull(scheduledAt),
    outboxId: outbox === null ? null : publicId('outbox', outbox),
    reasons,
  };
}
