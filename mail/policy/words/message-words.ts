import type { Sample } from '../sample.ts';
import { wordHash } from './hash.ts';
import { headerWords } from './header-words.ts';
import { linkWords } from './link-words.ts';
import { htmlWords, partWords } from './part-words.ts';
import { obfuscationWords, textWords } from './text-words.ts';

/** Maximum words of one message, and rows of one training sample. */
export const MAX_WORDS = 500;
/** Part of every hash: a new version of the extraction starts new training data, and the old decays. */
const EXTRACTION_VERSION = '1 ';

/**
 * Extracts the word numbers of a message, each once; even numbers are text words, odd ones header words. The same octets
 * always give the same words, so that training can be reverted. Depends on the message alone, and on whether From is forged.
 */
export function messageWords(sample: Sample): number[] {
  const { text, html, links, parts } = sample;
  const headerNumbers = new Set<number>();
  const headerParts = [
    headerWords(sample),
    linkWords(links),
    partWords(parts),
    htmlWords(html, text),
    obfuscationWords(text),
  ];
  for (const word of headerParts.flat()) {
    if (headerNumbers.size < MAX_WORDS / 2) headerNumbers.add(wordNumber(word, 1));
  }
  const textNumbers = [...new Set([...textWords(text, '')].map((word) => wordNumber(word, 0)))];
  const room = MAX_WORDS - headerNumbers.size;
  // The lowest numbers of a long text: independent of the order of sentences.
  return [
    ...headerNumbers,
    ...(textNumbers.length > room ? textNumbers.sort((a, b) => a - b).slice(0, room) : textNumbers),
  ];
}

function wordNumber(word: string, odd: 0 | 1): number {
  const hash = wordHash(EXTRACTION_VERSION + word);
  return hash - (hash % 2) + odd;
}

/** True for words of the text, as opposed to header words. */
export function isTextWord(word: number): boolean {
  return word % 2 === 0;
}
