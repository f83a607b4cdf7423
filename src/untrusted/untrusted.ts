import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { visibleLine } from './invisible.ts';

/** What was taken out of a text before it was shown. */
export const Removed = z.object({
  hiddenChars: z.number().describe('letters that styles hide'),
  hiddenNodes: z.number(),
  zeroWidth: z.number(),
  tagChars: z.number(),
  trackers: z.number(),
  images: z.number(),
});
export type Removed = z.output<typeof Removed>;

/** Who wrote a text, as far as this box knows. */
export const Source = z.object({
  messageId: z.string(),
  from: z.string().nullable(),
  auth: z.enum(['pass', 'fail', 'none', 'own']).describe('DMARC; own: written here'),
});
export type Source = z.output<typeof Source>;

/** Text of a stranger: data, whatever it says. Every line of it begins with the nonce, which nobody could know before. */
export const Untrusted = z.object({
  untrusted: z.literal(true),
  source: Source,
  nonce: z.string(),
  text: z.string().describe('each line begins with the nonce'),
  removed: Removed,
});
export type Untrusted = z.output<typeof Untrusted>;

export const NOTHING_REMOVED: Removed = {
  hiddenChars: 0,
  hiddenNodes: 0,
  zeroWidth: 0,
  tagChars: 0,
  trackers: 0,
  images: 0,
};

/** Characters of what another server said. */
const MOST_SAID = 500;

/** What a server or a program of others said, as it is shown under a key `untrusted`. */
export function remoteWords(text: string): string {
  return visibleLine(text, MOST_SAID);
}

const NONCE_OCTETS = 5;
/** Characters in front of each line. */
export const FENCE = 2 * NONCE_OCTETS + 2;

/** A fence for one answer. */
export function newNonce(): string {
  return randomBytes(NONCE_OCTETS).toString('hex');
}

/** Puts a text behind a fence. */
export function untrusted(nonce: string, source: Source, text: string, removed = NOTHING_REMOVED): Untrusted {
  return { untrusted: true, source, nonce, text: fenced(text, nonce), removed };
}

function fenced(text: string, nonce: string): string {
  return text
    .split('\n')
    .map((line) => `${nonce}| ${line}`)
    .join('\n');
}
