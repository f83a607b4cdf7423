import type { Sample } from '../sample.ts';
import { wordHash } from './hash.ts';
import { headerWords } from './header-words.ts';
import { linkWords } from './link-words.ts';
import { htmlWords, partWords } from './part-words.ts';
import { textTricks, textWords } from './text-words.ts';

/** Words of one message: what one lesson writes. */
export const MOST_WORDS = 500;
/** Goes into every number: another way to read messages begins a memory of its own, and the old one fades. */
const EDITION = '1 ';

/**
 * What a message is judged and remembered by: numbers of its words, each once. The same octets have the same words always,
 * so that what was learned from them can be unlearned. Reads the message itself and nothing about how it came.
 */
export function wordsOf(sample: Sample): number[] {
  const words = new Set<number>();
  const { text, html, links, parts } = sample;
  const about = [
    ...headerWords(sample),
    ...linkWords(links),
    ...partWords(parts),
    ...htmlWords(html, text),
    ...textTricks(text),
  ];
  for (const word of about) {
    if (words.size >= MOST_WORDS / 2) break;
    words.add(wordHash(EDITION + word));
  }
  // Of a long text the lowest numbers: a choice that no order of sentences changes.
  const more = [...textWords(text, '')].map((word) => wordHash(EDITION + word)).filter((hash) => !words.has(hash));
  const rest = more.length > MOST_WORDS - words.size ? more.sort((a, b) => a - b) : more;
  for (const hash of rest.slice(0, MOST_WORDS - words.size)) words.add(hash);
  return [...words];
}
