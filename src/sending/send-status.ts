import type { OutboxItem, OutboxState } from '../../mail/delivery/outbox-items.ts';
import { publicId } from '../core/ids.ts';
import { refuse } from '../core/refusal.ts';
import type { SendResult } from './send-result.ts';
import type { SentEmail } from './sent-queries.ts';

const RESEND_HINT = 'To send it anyway, use a new idempotencyKey, or allowDuplicate without one';

/** Error texts for a held message that was not sent. */
export const NOT_SENT_REASONS: Readonly<Record<'denied' | 'expired' | 'withdrawn', string>> = {
  denied: 'Not sent: a person rejected it. Ask them before you write another one.',
  expired: `Not sent: the approval expired. ${RESEND_HINT}.`,
  withdrawn: `Not sent: it was withdrawn. ${RESEND_HINT}.`,
};

/** Status at the time of acceptance. */
export function initialStatus({ scheduledAt, heldBecause }: SentEmail): SendResult['status'] {
  if (heldBecause !== null) return 'pending_approval';
  return scheduledAt === null ? 'queued' : 'scheduled';
}

/**
 * Current status, for a repeated request: repeating the initial status could leave the client waiting forever. Refuses
 * if the message was not sent. `item` is its outbox row; undefined if it has left the outbox.
 */
export function currentStatus(sent: SentEmail, item: OutboxItem | undefined, now: number): SendResult['status'] {
  if (sent.outbox === null) return initialStatus(sent);
  const left: OutboxState = sent.cancelledAt === null ? 'approved' : 'withdrawn';
  const state = item?.state ?? left;
  switch (state) {
    case 'pending':
      return 'pending_approval';
    case 'approved':
    case 'scheduled':
      return (item?.dueAt ?? 0) > now ? 'scheduled' : 'queued';
    case 'denied':
    case 'expired':
    case 'withdrawn':
      return refuse('conflict', NOT_SENT_REASONS[state], {
        state,
        outboxId: publicId('outbox', sent.outbox),
        duplicateOf: publicId('sent', sent.id),
      });
  }
}

/** Returns the message with its recipients in the given status and without hold reasons. */
export function withStatus(sent: SentEmail, status: SendResult['status']): SentEmail {
  if (status === initialStatus(sent) || (status !== 'queued' && status !== 'scheduled')) return sent;
  const recipients = sent.recipients.map((one) =>
    one.state === 'held' || one.state === 'scheduled' ? { ...one, state: status } : one,
  );
  return { ...sent, recipients, reasons: [] };
}
