import { tokensOf } from '../../message/words.ts';

/** Characters of a text that are looked at. */
const MOST_TEXT = 32 * 1024;
/** Longer runs of letters are told by their length. */
const LONGEST_WORD = 24;
/** Letters that stand alone, one after the other: "v i a g r a". */
const FEWEST_SPACED = 4;

/**
 * The words of a text, each once. Scripts without blanks come as pairs of characters. `kind` says where it stood: a word in a
 * subject is another one than in a text. Pairs of words are left out: a sentence would count twice, and so would padding.
 */
export function textWords(text: string, kind: string): Set<string> {
  const found = new Set<string>();
  let spaced = '';
  for (const { word, tail } of tokensOf(text.slice(0, MOST_TEXT))) {
    if (tail === 'last') continue;
    found.add(kind + shape(word));
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
  if (letters.length >= FEWEST_SPACED && /\D/.test(letters)) found.add(`spaced ${letters.slice(0, LONGEST_WORD)}`);
}

/** Numbers differ in every message, what they are like does not. */
function shape(word: string): string {
  if (/^\p{N}+$/u.test(word)) return `#${word.length}`;
  if (word.length <= LONGEST_WORD) return /\p{N}.*\p{N}/u.test(word) ? word.replace(/\p{N}/gu, '0') : word;
  return `long ${Math.ceil(word.length / 8)}`;
}

/** What a reader does not see and a filter shall stumble over: joiners, marks of direction, letters of two alphabets in a word. */
export function textTricks(text: string): string[] {
  const seen = text.slice(0, MOST_TEXT);
  return [
    ...counted('unseen', seen.match(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g)),
    ...counted('latin beside cyrillic', seen.match(/[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z]/gi)),
    ...counted('latin beside greek', seen.match(/[a-z][\u0370-\u03ff]|[\u0370-\u03ff][a-z]/gi)),
    ...counted('digits in words', seen.match(/[a-z][0-9@$][a-z]/gi)),
    ...counted('emphasis', seen.match(/[!$€£¥]/g)),
  ];
}

/** Nothing for nothing, else the name with how many there are, roughly. */
export function counted(name: string, found: readonly unknown[] | null): string[] {
  return found === null || found.length === 0 ? [] : [`${name} ${Math.floor(Math.log2(found.length))}`];
}
