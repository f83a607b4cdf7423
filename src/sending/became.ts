import type { OutboxItem, OutboxState } from '../../mail/delivery/outbox-items.ts';
import { publicId } from '../ids.ts';
import { refuse } from '../operations/refusal.ts';
import type { SendResult } from './send-answer.ts';
import type { SentEmail } from './sent-queries.ts';

const ANEW = 'To send it after all use a new idempotencyKey, or allowDuplicate without one';

/** What who asked is told of a message that waited and never left. */
export const NOT_SENT: Readonly<Record<'denied' | 'expired' | 'withdrawn', string>> = {
  denied: 'A person refused it: it was not sent. Ask them before you write another one.',
  expired: `Nobody let it go in time: it was not sent. ${ANEW}.`,
  withdrawn: `It was withdrawn: it was not sent. ${ANEW}.`,
};

/** How a message stood in the moment when it was taken. */
export function takenAs({ scheduledAt, heldBecause }: SentEmail): SendResult['status'] {
  if (heldBecause !== null) return 'pending_approval';
  return scheduledAt === null ? 'queued' : 'scheduled';
}

/**
 * How it stands now, for a request that comes again: what it waited for may have come, and who repeats an old answer would
 * wait for ever. Refuses where it was not sent. `item` is what the outbox knows of it; undefined: it is there no more.
 */
export function standsAs(sent: SentEmail, item: OutboxItem | undefined, now: number): SendResult['status'] {
  if (sent.outbox === null) return takenAs(sent);
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
      return refuse('conflict', NOT_SENT[state], {
        state,
        outboxId: publicId('outbox', sent.outbox),
        duplicateOf: publicId('sent', sent.id),
      });
  }
}

/** The same message as it is told when it stands so: nobody waits any more for what it waited for. */
export function toldAs(sent: SentEmail, status: SendResult['status']): SentEmail {
  if (status === takenAs(sent) || (status !== 'queued' && status !== 'scheduled')) return sent;
  const recipients = sent.recipients.map((one) =>
    one.state === 'held' || one.state === 'scheduled' ? { ...one, state: status } : one,
  );
  return { ...sent, recipients, reasons: [] };
}
