import { z } from 'zod';
import type { JournalLine } from '../../../mail/store/journal.ts';
import { publicId } from '../../ids.ts';
import { remoteWords } from '../../untrusted/untrusted.ts';
import { isoOf } from '../schemas.ts';
import { EVENTS, type Entry } from './entry.ts';
import { Facts } from './facts.ts';
import { emailsOf, type Story } from './timeline.ts';

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
  untrusted: z.object({ rfc822MessageId: z.string() }).optional().describe('of what came'),
});

export const Envelope = z.object({ mailFrom: z.string(), rcptTo: z.array(z.string()) });

export function shownEntry({ at, text, ...entry }: Entry): z.output<typeof Event> {
  return { at: isoOf(at), ...entry, ...(text !== undefined && { untrusted: { text: remoteWords(text) } }) };
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
    rfc822MessageId: direction === 'sent' ? named : null,
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
  return { mailFrom: all[from]?.text('from') ?? '', rcptTo: [...new Set(to.length > 0 ? to : sources)] };
}

/** A message that is held as a whole is told with all its recipients, a copy that is held with its one. */
function isSending({ event, detail }: JournalLine): boolean {
  return event === 'submitted' || event === 'scheduled' || (event === 'held' && Array.isArray(detail['to']));
}

function isReceiving({ event }: JournalLine): boolean {
  return event === 'received';
}
