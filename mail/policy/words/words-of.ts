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
 * What a message is judged and remembered by: numbers of its words, each once; even ones are of its text, odd ones of what is
 * around it. The same octets have the same words always, so that what was learned from them can be unlearned. Reads the
 * message itself and nothing about how it came, but whether its author's name is borrowed.
 */
export function wordsOf(sample: Sample): number[] {
  const { text, html, links, parts } = sample;
  const around = new Set<number>();
  const about = [headerWords(sample), linkWords(links), partWords(parts), htmlWords(html, text), textTricks(text)];
  for (const word of about.flat()) {
    if (around.size < MOST_WORDS / 2) around.add(numberOf(word, 1));
  }
  const inside = [...new Set([...textWords(text, '')].map((word) => numberOf(word, 0)))];
  const room = MOST_WORDS - around.size;
  // Of a long text the lowest numbers: a choice that no order of sentences changes.
  return [...around, ...(inside.length > room ? inside.sort((a, b) => a - b).slice(0, room) : inside)];
}

function numberOf(word: string, odd: 0 | 1): number {
  const hash = wordHash(EDITION + word);
  return hash - (hash % 2) + odd;
}

/** Of the text of a message, and not of what is around it. */
export function isOfText(word: number): boolean {
  return word % 2 === 0;
}
