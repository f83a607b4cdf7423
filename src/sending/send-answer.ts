import { z } from 'zod';
import { publicId } from '../ids.ts';
import { isoOrNull } from '../operations/schemas.ts';
import { SOURCES } from './outbound.ts';
import type { SentEmail, SentTo } from './sent-queries.ts';

/** What every door answers to a message that was taken. */
export const SendResult = z.object({
  id: z.string().nullable(),
  messageId: z.string().nullable(),
  status: z.enum(['queued', 'scheduled', 'pending_approval', 'dry_run']),
  rfc822MessageId: z.string(),
  /** In the mailbox of its author. */
  threadId: z.string().nullable(),
  recipients: z.array(
    z.object({
      address: z.string(),
      state: z.enum(['queued', 'held', 'delivered', 'scheduled', 'suppressed']),
      source: z.enum(SOURCES).optional().describe('field of the answered message; left out: you named it'),
    }),
  ),
  envelope: z.object({ mailFrom: z.string(), rcptTo: z.array(z.string()) }),
  sha256: z.string(),
  scheduledAt: z.string().nullable(),
  outboxId: z.string().nullable(),
  approveUrl: z.string().nullable().describe('page for a person to let it go'),
  reasons: z.array(z.string()).describe('why it waits for a person, and what to know of its recipients'),
  duplicateOf: z.string().nullable(),
  budget: z
    .object({
      messages: z.number().nullable(),
      recipients: z.number().nullable(),
      newRecipients: z.number().nullable(),
    })
    .nullable()
    .describe('left now, of every limit the least; null: no limit'),
});
export type SendResult = z.output<typeof SendResult>;

type Facts = Omit<SentEmail, 'id'>;

/** The answer to a message, and to the same request again: then `duplicateOf` names it. */
export function answerTo(
  sent: SentEmail,
  threadId: string | null,
  { repeated, ...more }: { repeated: boolean } & Pick<SendResult, 'status' | 'budget' | 'approveUrl'>,
): SendResult {
  const id = publicId('sent', sent.id);
  return { ...facts(sent, id, threadId), ...more, duplicateOf: repeated ? id : null };
}

/** The answer to a dry run. */
export function answerToTry(sent: Facts, threadId: string | null, budget: SendResult['budget']): SendResult {
  return { ...facts(sent, null, threadId), status: 'dry_run', approveUrl: null, duplicateOf: null, budget };
}

function facts(
  sent: Facts,
  id: string | null,
  threadId: string | null,
): Omit<SendResult, 'status' | 'approveUrl' | 'duplicateOf' | 'budget'> {
  const { messageId, sender, recipients, sha256, scheduledAt, reasons, outbox } = sent;
  return {
    id,
    messageId: id,
    rfc822MessageId: messageId,
    threadId,
    recipients: recipients.map((one) => ({ ...one })),
    envelope: {
      mailFrom: sender,
      rcptTo: recipients.filter((one) => one.state !== 'suppressed').map((one) => one.address),
    },
    sha256,
    scheduledAt: isoOrNull(scheduledAt),
    outboxId: outbox === null ? null : publicId('outbox', outbox),
    reasons: [...reasons, ...recipients.flatMap(oddSource)],
  };
}

/** Who asks for answers somewhere else may be somebody else. */
function oddSource({ address, source }: SentTo): string[] {
  return source === 'reply_to' ? [`${address} is in its Reply-To and not in its From`] : [];
}
