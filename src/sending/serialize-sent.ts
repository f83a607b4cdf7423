import type { JournalLine } from '../../mail/store/journal/journal.ts';
import { publicId } from '../core/ids.ts';
import type { SentEmail } from './sent-queries.ts';

export type RecipientState =
  'scheduled' | 'queued' | 'held' | 'delivered' | 'deferred' | 'bounced' | 'complained' | 'cancelled' | 'suppressed';

/** Serializes a sent message with the delivery status of each recipient. */
export function serializeSent(sent: SentEmail, events: readonly JournalLine[]) {
  const recipients = sent.recipients.map(({ address, state }) => ({
    address,
    ...(state === 'suppressed' ? { state } : recipientState(sent, address, events)),
  }));
  return {
    id: publicId('sent', sent.id),
    rfc822MessageId: sent.messageId,
    from: sent.sender,
    subject: sent.subject,
    tags: sent.tags,
    metadata: sent.metadata,
    createdAt: new Date(sent.createdAt).toISOString(),
    scheduledAt: sent.scheduledAt === null ? null : new Date(sent.scheduledAt).toISOString(),
    status: overallState(recipients.map((one) => one.state)),
    recipients,
  };
}

const STATES: Readonly<Record<string, RecipientState>> = {
  delivered: 'delivered',
  failed: 'bounced',
  complained: 'complained',
  deferred: 'deferred',
  held: 'held',
  released: 'queued',
  suppressed: 'suppressed',
};

/** Returns the status of one recipient by its last journal line. */
function recipientState(
  { cancelledAt, scheduledAt, heldBecause }: SentEmail,
  address: string,
  events: readonly JournalLine[],
): { state: RecipientState; lastStatus?: string; lastText?: string } {
  if (cancelledAt !== null) return { state: 'cancelled' };
  const left = events.some(({ event }) => event === 'submitted');
  if (!left && (scheduledAt !== null || heldBecause !== null)) return { state: waitingState(events) };
  const last = events.findLast(
    ({ event, detail }) => detail['to'] === address && (event in STATES || event === 'cancelled'),
  );
  // Local recipients were never queued: the accepting commit delivered the message.
  if (last === undefined) return { state: isHere(address, events) ? 'delivered' : 'queued' };
  if (last.event === 'cancelled') return { state: 'cancelled' };
  const { status, text } = last.detail;
  return {
    state: STATES[last.event] ?? 'queued',
    ...(typeof status === 'string' && status !== '' && { lastStatus: status }),
    ...(typeof text === 'string' && text !== '' && { lastText: text }),
  };
}

const WAITING = ['held', 'released', 'scheduled', 'cancelled'];

/** Status of a message that is scheduled or held as a whole. */
function waitingState(events: readonly JournalLine[]): RecipientState {
  const last = events.findLast(({ event }) => WAITING.includes(event));
  if (last?.event === 'cancelled') return 'cancelled';
  return last?.event === 'held' ? 'held' : 'scheduled';
}

function isHere(address: string, events: readonly JournalLine[]): boolean {
  const here = events.find(({ event }) => event === 'submitted')?.detail['here'];
  return Array.isArray(here) && here.includes(address);
}

/** Returns the least final state of all recipients. */
function overallState(states: readonly RecipientState[]): RecipientState {
  const order: RecipientState[] = [
    'scheduled',
    'held',
    'deferred',
    'queued',
    'complained',
    'bounced',
    'complained',
    'cancelled',
    'delivered',
    'suppressed',
  ];
  return order.find((one) => states.includes(one)) ?? 'queued';
}

/** Keeps the journal lines that the sender may see; hides what local mailboxes did with the message. */
export function linesForSender(sent: SentEmail, lines: readonly JournalLine[]): JournalLine[] {
  const own = new Set(sent.recipients.map((one) => one.address));
  return lines.filter(({ event, detail: { to } }) => {
    if (event === 'received' || event === 'forwarded' || event === 'kept') return false;
    return event === 'bounced' || typeof to !== 'string' || own.has(to);
  });
}

/** Serializes the delivery log of a message, oldest first. */
export function serializeEvents(events: readonly JournalLine[]) {
  return events.map(({ at, event, detail }) => ({ at: new Date(at).toISOString(), event, ...detail }));
}
