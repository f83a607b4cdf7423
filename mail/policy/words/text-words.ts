import { tokensOf } from '../../message/word-tokens.ts';

/** Characters of a text that are read. */
const MAX_TEXT = 32 * 1024;
/** Longer words are replaced by their length. */
const MAX_WORD = 24;
/** Number of single letters in a row that count as a spaced word: "v i a g r a". */
const MIN_SPACED = 4;

/**
 * Extracts the distinct words of a text. Scripts without blanks give pairs of characters. `kind` is a prefix for the place: a
 * subject word differs from a text word. No word pairs: a sentence would count twice, and so would padding.
 */
export function textWords(text: string, kind: string): Set<string> {
  const found = new Set<string>();
  let spaced = '';
  for (const { word, tail } of tokensOf(text.slice(0, MAX_TEXT))) {
    if (tail === 'last') continue;
    found.add(kind + normalizeWord(word));
    if (word.length === 1 && tail === undefined) {
      spaced += word;
      continue;
    }
    addSpaced(found, spaced);
    spaced = '';
  }
  addSpaced(found, spaced);
  return found;
}

function addSpaced(found: Set<string>, letters: string): void {
  if (letters.length >= MIN_SPACED && /\D/.test(letters)) found.add(`spaced ${letters.slice(0, MAX_WORD)}`);
}

/** Normalizes numbers and long words, which differ in every message. */
function normalizeWord(word: string): string {
  if (/^\p{N}+$/u.test(word)) return `#${word.length}`;
  if (word.length <= MAX_WORD) return /\p{N}.*\p{N}/u.test(word) ? word.replace(/\p{N}/gu, '0') : word;
  return `long ${Math.ceil(word.length / 8)}`;
}

/** Extracts signs of obfuscation: zero-width characters, direction marks, mixed alphabets, digits inside words. */
export function obfuscationWords(text: string): string[] {
  const seen = text.slice(0, MAX_TEXT);
  return [
    ...countWord('unseen', seen.match(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g)),
    ...countWord('latin beside cyrillic', seen.match(/[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z]/gi)),
    ...countWord('latin beside greek', seen.match(/[a-z][\u0370-\u03ff]|[\u0370-\u03ff][a-z]/gi)),
    ...countWord('digits in words', seen.match(/[a-z][0-9@$][a-z]/gi)),
    ...countWord('emphasis', seen.match(/[!$€£¥]/g)),
  ];
}

/** Returns the name with the logarithm of the count; nothing for a count of 0. */
export function countWord(name: string, found: readonly unknown[] | null): string[] {
  return found === null || found.length === 0 ? [] : [`${name} ${Math.floor(Math.log2(found.length))}`];
}
