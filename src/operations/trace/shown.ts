import { z } from 'zod';
import type { JournalLine } from '../../../mail/store/journal.ts';
import { publicId } from '../../ids.ts';
import { visibleLine } from '../../untrusted/invisible.ts';
import { fewOf, firstFitting } from '../../untrusted/room.ts';
import { remoteWords } from '../../untrusted/untrusted.ts';
import { isoOf } from '../schemas.ts';
import { EVENTS, type Entry } from './entry.ts';
import { Facts } from './facts.ts';
import { emailsOf, type Story } from './timeline.ts';

/** Characters: it may name many recipients, or reasons. */
const MOST_EXPLANATION = 1_000;
/** RFC 5322 2.1.1: no line is longer. */
const MOST_MESSAGE_ID = 998;
/** Characters of JSON that a story has room for; of a longer one what comes in the middle is left out. */
const BEGINNING_ROOM = 8_000;
const END_ROOM = 22_000;
const RECIPIENTS = { most: 1_000, chars: 18_000 };

/** One thing that happened. */
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
  moreEvents: z.number().optional().describe('of its story, in the middle, that are not told'),
  untrusted: z.object({ rfc822MessageId: z.string() }).optional().describe('of what came'),
});

export const Envelope = z.object({
  mailFrom: z.string(),
  rcptTo: z.array(z.string()),
  moreRecipients: z.number().optional(),
});

export function shownEntry({ at, text, explanation, ...entry }: Entry): z.output<typeof Event> {
  const words = visibleLine(explanation, MOST_EXPLANATION);
  return {
    at: isoOf(at),
    ...entry,
    explanation: words,
    ...(text !== undefined && { untrusted: { text: remoteWords(text) } }),
  };
}

/** The beginning of a story and its end, and how much there is between them. */
export function shownStory(entries: readonly Entry[]): { timeline: z.output<typeof Event>[]; moreEvents: number } {
  const all = entries.map(shownEntry);
  const beginning = firstFitting(all, BEGINNING_ROOM);
  const end = firstFitting(all.slice(beginning.length).toReversed(), END_ROOM).toReversed();
  return { timeline: [...beginning, ...end], moreEvents: all.length - beginning.length - end.length };
}

export function messageOf(trace: string, { lines, waiting, sent }: Story): z.output<typeof Message> {
  const details = lines.map((line) => line.detail);
  const id = details.find((detail) => typeof detail['id'] === 'string')?.['id'];
  const size = details.find((detail) => typeof detail['size'] === 'number')?.['size'];
  const direction = lines.some(isSending) ? 'sent' : lines.some(isReceiving) ? 'received' : 'forwarded';
  const named = typeof id === 'string' ? id : null;
  return {
    messageId: trace,
    sentId: sent === undefined ? null : publicId('sent', sent),
    mailboxMessageIds: emailsOf(lines).map(({ email }) => `msg_${email}`),
    rfc822MessageId: direction === 'sent' && named !== null ? visibleLine(named, MOST_MESSAGE_ID) : null,
    direction,
    at: isoOf(lines[0]?.at ?? 0),
    bytes: typeof size === 'number' ? size : null,
    waiting: waiting.length,
    ...(direction !== 'sent' && named !== null && { untrusted: { rfc822MessageId: remoteWords(named) } }),
  };
}

/** Sender and recipients as this viewer knows them: those of others are not among them. */
export function envelopeOf({ lines }: Story): z.output<typeof Envelope> {
  const all = lines.map(({ detail }) => new Facts(detail));
  const begun = lines.filter((line) => isSending(line) || isReceiving(line));
  const to = begun.flatMap(({ detail }) => new Facts(detail).list('to'));
  const sources = all.map((facts) => facts.text('source')).filter((source) => source !== '');
  const from = lines.findIndex(({ detail }) => typeof detail['from'] === 'string');
  const each = [...new Set(to.length > 0 ? to : sources)];
  const rcptTo = fewOf(each, RECIPIENTS, ({ length }) => length);
  const more = each.length - rcptTo.length;
  return { mailFrom: all[from]?.text('from') ?? '', rcptTo, ...(more > 0 && { moreRecipients: more }) };
}

/** A message that is held as a whole is told with all its recipients, a copy that is held with its one. */
function isSending({ event, detail }: JournalLine): boolean {
  return event === 'submitted' || event === 'scheduled' || (event === 'held' && Array.isArray(detail['to']));
}

function isReceiving({ event }: JournalLine): boolean {
  return event === 'received';
}
