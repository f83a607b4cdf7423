import { z } from 'zod';
import type { JournalLine } from '../../../mail/store/journal/journal.ts';
import { publicId } from '../../core/ids.ts';
import { visibleLine } from '../../untrusted/invisible.ts';
import { takeWithin, firstFitting } from '../../untrusted/result-budget.ts';
import { remoteText } from '../../untrusted/untrusted.ts';
import { isoOf } from '../../core/schemas.ts';
import { EVENTS, type Entry } from './entry.ts';
import { Facts } from './facts.ts';
import { emailsOf, type MessageTimeline } from './timeline.ts';

/** Maximum characters of an explanation: it may name many recipients or reasons. */
const MAX_EXPLANATION = 1_000;
/** Maximum line length: RFC 5322 2.1.1. */
const MAX_MESSAGE_ID = 998;
/** Characters of JSON for a timeline; the middle of a longer one is left out. */
const BEGINNING_ROOM = 8_000;
const END_ROOM = 22_000;
const RECIPIENTS = { most: 1_000, chars: 18_000 };

/** One event of a timeline. */
export const Event = z.object({
  at: z.string(),
  event: z.enum(EVENTS),
  recipient: z.string().optional(),
  host: z.string().optional(),
  tls: z.string().optional(),
  code: z.number().optional(),
  enhancedCode: z.string().optional(),
  explanation: z.string(),
  untrusted: z.object({ text: z.string() }).optional().describe('what the other side said'),
});

export const Message = z.object({
  messageId: z.string(),
  sentId: z.string().nullable(),
  mailboxMessageIds: z.array(z.string()),
  rfc822MessageId: z.string().nullable().describe('of what was sent here'),
  direction: z.enum(['received', 'sent', 'forwarded']),
  at: z.string(),
  bytes: z.number().nullable(),
  waiting: z.number(),
  moreEvents: z.number().optional().describe('left out of the middle of the timeline'),
  untrusted: z.object({ rfc822MessageId: z.string() }).optional().describe('of what came'),
});

export const Envelope = z.object({
  mailFrom: z.string(),
  rcptTo: z.array(z.string()),
  moreRecipients: z.number().optional(),
});

export function shownEntry({ at, text, explanation, ...entry }: Entry): z.output<typeof Event> {
  const words = visibleLine(explanation, MAX_EXPLANATION);
  return {
    at: isoOf(at),
    ...entry,
    explanation: words,
    ...(text !== undefined && { untrusted: { text: remoteText(text) } }),
  };
}

/** Returns the start and end of a timeline, and how many events are left out between. */
export function shownTimeline(entries: readonly Entry[]): { timeline: z.output<typeof Event>[]; moreEvents: number } {
  const all = entries.map(shownEntry);
  const beginning = firstFitting(all, BEGINNING_ROOM);
  const end = firstFitting(all.slice(beginning.length).toReversed(), END_ROOM).toReversed();
  return { timeline: [...beginning, ...end], moreEvents: all.length - beginning.length - end.length };
}

export function messageOf(trace: string, { lines, waiting, sent }: MessageTimeline): z.output<typeof Message> {
  const details = lines.map((line) => line.detail);
  const id = details.find((detail) => typeof detail['id'] === 'string')?.['id'];
  const size = details.find((detail) => typeof detail['size'] === 'number')?.['size'];
  const direction = lines.some(isSending) ? 'sent' : lines.some(isReceiving) ? 'received' : 'forwarded';
  const named = typeof id === 'string' ? id : null;
  return {
    messageId: trace,
    sentId: sent === undefined ? null : publicId('sent', sent),
    mailboxMessageIds: emailsOf(lines).map(({ email }) => `msg_${email}`),
    rfc822MessageId: direction === 'sent' && named !== null ? visibleLine(named, MAX_MESSAGE_ID) : null,
    direction,
    at: isoOf(lines[0]?.at ?? 0),
    bytes: typeof size === 'number' ? size : null,
    waiting: waiting.length,
    ...(direction !== 'sent' && named !== null && { untrusted: { rfc822MessageId: remoteText(named) } }),
  };
}

/** Returns the envelope, without recipients that this viewer may not see. */
export function visibleEnvelope({ lines }: MessageTimeline): z.output<typeof Envelope> {
  const all = lines.map(({ detail }) => new Facts(detail));
  const begun = lines.filter((line) => isSending(line) || isReceiving(line));
  const to = begun.flatMap(({ detail }) => new Facts(detail).list('to'));
  const sources = all.map((facts) => facts.text('source')).filter((source) => source !== '');
  const from = lines.findIndex(({ detail }) => typeof detail['from'] === 'string');
  const each = [...new Set(to.length > 0 ? to : sources)];
  const rcptTo = takeWithin(each, RECIPIENTS, ({ length }) => length);
  const more = each.length - rcptTo.length;
  return { mailFrom: all[from]?.text('from') ?? '', rcptTo, ...(more > 0 && { moreRecipients: more }) };
}

/** Returns the recipients: all for a message held as a whole, one for a held copy. */
function isSending({ event, detail }: JournalLine): boolean {
  return event === 'submitted' || event === 'scheduled' || (event === 'held' && Array.isArray(detail['to']));
}

function isReceiving({ event }: JournalLine): boolean {
  return event === 'received';
}
