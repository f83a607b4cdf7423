import { z } from 'zod';
import { randomOctets } from '../core/random-octets.ts';
import { visibleLine } from './invisible.ts';

/** Counts of content removed from a text. */
export const RemovedContent = z.object({
  hiddenChars: z.number().describe('letters hidden by styles'),
  hiddenNodes: z.number(),
  zeroWidth: z.number(),
  tagChars: z.number(),
  trackers: z.number(),
  images: z.number(),
});
export type RemovedContent = z.output<typeof RemovedContent>;

/** Source of a text. */
export const TextSource = z.object({
  messageId: z.string(),
  from: z.string().nullable(),
  auth: z.enum(['pass', 'fail', 'none', 'own']).describe('DMARC; own: written here'),
});
export type TextSource = z.output<typeof TextSource>;

/** Untrusted text: data, never instructions. Each line begins with an unpredictable nonce. */
export const Untrusted = z.object({
  untrusted: z.literal(true),
  source: TextSource,
  nonce: z.string(),
  text: z.string().describe('each line begins with the nonce'),
  removed: RemovedContent,
});
export type Untrusted = z.output<typeof Untrusted>;

export const NOTHING_REMOVED: RemovedContent = {
  hiddenChars: 0,
  hiddenNodes: 0,
  zeroWidth: 0,
  tagChars: 0,
  trackers: 0,
  images: 0,
};

/** Characters of a remote server's text. */
const MAX_REMOTE_CHARS = 500;

/** Sanitizes text of a remote server or program, to show under a key `untrusted`. */
export function remoteText(text: string): string {
  return visibleLine(text, MAX_REMOTE_CHARS);
}

const NONCE_OCTETS = 5;
/** Characters before each line. */
export const FENCE = 2 * NONCE_OCTETS + 2;

/** Creates the nonce of one response. */
export function newNonce(): string {
  return randomOctets(NONCE_OCTETS).toString('hex');
}

/** Fences an untrusted text. */
export function untrusted(nonce: string, source: TextSource, text: string, removed = NOTHING_REMOVED): Untrusted {
  return { untrusted: true, source, nonce, text: fenced(text, nonce), removed };
}

function fenced(text: string, nonce: string): string {
  return text
    .split('\n')
    .map((line) => `${nonce}| ${line}`)
    .join('\n');
}
