import { type Token, tokensOf } from './words.ts';

/** Words that stand one after the other. */
export interface Term {
  words: readonly string[];
  /** The last word may go on. */
  prefix: boolean;
}

/** Characters of a search text, and terms and words in it. */
const MOST_CHARACTERS = 1000;
const MOST_WORDS = 200;
/** Shorter beginnings would gather half of the words that there are. */
const SHORTEST_PREFIX = 3;

/**
 * What a person wrote into a search field: words that must all be there, in any order, and phrases in quotes. `word*`
 * finds what begins so. Undefined: too much of it. RFC 8621 4.4.1.
 */
export function readTerms(text: string): Term[] | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const terms: Term[] = [];
  for (const [whole, quote, inside] of text.matchAll(/(["'])((?:\\.|(?!\1)[^\\])*)\1|\S+/gs)) {
    const written = quote === undefined ? whole : (inside ?? '').replace(/\\(["'\\])/g, '$1');
    const term = toTerm(written, quote === undefined && whole.endsWith('*'));
    if (term !== undefined) terms.push(term);
  }
  return terms.reduce((sum, { words }) => sum + words.length, 0) > MOST_WORDS ? undefined : terms;
}

function toTerm(text: string, open: boolean): Term | undefined {
  const tokens = tokensOf(text);
  const last = tokens.at(-1);
  if (last === undefined) return undefined;
  // A run of two and more ends in the index with its last character alone, which is no end of what was asked.
  if (last.tail === 'last') tokens.pop();
  const prefix = last.tail === 'only' || (open && last.tail === undefined && last.word.length >= SHORTEST_PREFIX);
  return { words: tokens.map(({ word }) => word), prefix };
}

/** Where a term stands among the words of a text: first and last token of each place. */
export function placesOf(term: Term, tokens: readonly Token[]): { first: Token; last: Token }[] {
  const places: { first: Token; last: Token }[] = [];
  const { words } = term;
  for (let at = 0; at + words.length <= tokens.length; at++) {
    if (!words.every((word, i) => isWord(tokens[at + i], word, term.prefix && i === words.length - 1))) continue;
    const [first, last] = [tokens[at], tokens[at + words.length - 1]];
    if (first !== undefined && last !== undefined) places.push({ first, last });
  }
  return places;
}

function isWord(token: Token | undefined, word: string, prefix: boolean): boolean {
  return prefix ? token?.word.startsWith(word) === true : token?.word === word;
}
