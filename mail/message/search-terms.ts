import { type WordToken, tokensOf } from './word-tokens.ts';

/** A phrase of consecutive words. */
export interface SearchTerm {
  words: readonly string[];
  /** The last word is a prefix. */
  prefix: boolean;
}

/** Characters of a search text, and words in it. */
const MAX_CHARS = 1000;
const MAX_WORDS = 200;
/** Shorter prefixes match too many words. */
const MIN_PREFIX = 3;

/**
 * Parses a search text: words (all required, in any order), quoted phrases, and `word*` prefixes. Undefined over a limit.
 * RFC 8621 4.4.1.
 */
export function readTerms(text: string): SearchTerm[] | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const terms: SearchTerm[] = [];
  for (const [whole, quote, inside] of text.matchAll(/(["'])((?:\\.|(?!\1)[^\\])*)\1|\S+/gs)) {
    const written = quote === undefined ? whole : (inside ?? '').replace(/\\(["'\\])/g, '$1');
    const term = toTerm(written, quote === undefined && whole.endsWith('*'));
    if (term !== undefined) terms.push(term);
  }
  return terms.reduce((sum, { words }) => sum + words.length, 0) > MAX_WORDS ? undefined : terms;
}

function toTerm(text: string, open: boolean): SearchTerm | undefined {
  const tokens = tokensOf(text);
  const last = tokens.at(-1);
  if (last === undefined) return undefined;
  // The index ends a run with its last character alone, which is not part of the query.
  if (last.tail === 'last') tokens.pop();
  const prefix = last.tail === 'only' || (open && last.tail === undefined && last.word.length >= MIN_PREFIX);
  return { words: tokens.map(({ word }) => word), prefix };
}

/** Removes repeated terms, and those beyond the words of one search text: more cost time in every message. */
export function boundTerms(terms: readonly SearchTerm[]): SearchTerm[] {
  const distinct = new Map(terms.map((term) => [`${term.words.join(' ')}${term.prefix ? '*' : ''}`, term]));
  let words = 0;
  return [...distinct.values()].filter((term) => (words += term.words.length) <= MAX_WORDS);
}

/** Finds the longest match of any term at each word of a text, in order: its first and last token. */
export function* findTerms(
  terms: readonly SearchTerm[],
  tokens: readonly WordToken[],
): Generator<{ first: WordToken; last: WordToken }> {
  const longestFirst = terms.toSorted((a, b) => b.words.length - a.words.length);
  const byLetter = Map.groupBy(longestFirst, ({ words }) => words[0]?.[0]);
  for (const [at, first] of tokens.entries()) {
    const term = byLetter.get(first.word[0])?.find((one) => isAt(one, tokens, at));
    const last = term && tokens[at + term.words.length - 1];
    if (last !== undefined) yield { first, last };
  }
}

function isAt({ words, prefix }: SearchTerm, tokens: readonly WordToken[], at: number): boolean {
  return words.every((word, i) => isWord(tokens[at + i], word, prefix && i === words.length - 1));
}

function isWord(token: WordToken | undefined, word: string, prefix: boolean): boolean {
  return prefix ? token?.word.startsWith(word) === true : token?.word === word;
}
