import { isOfText } from './words-of.ts';

/** One word as an account remembers it, in messages of today's weight: what was learned long ago weighs less. */
export interface WordCount {
  /** Its number, words-of.ts. */
  hash: number;
  junk: number;
  good: number;
}

/** What an account remembers of the words of one message. */
export interface Memory {
  /** All messages that were learned, in today's weight. */
  junk: number;
  good: number;
  /** Those words of the message that were seen before. */
  words: readonly WordCount[];
}

/** How likely a message is junk by its words alone. */
export interface Likelihood {
  /** 0 to 1; 0.5 says nothing. */
  junk: number;
  /** Words that told something. */
  told: number;
}

/** A word that was seen seldom counts as if it had been seen so often more, in both kinds alike. */
const DOUBT = 0.7;
/** A word nearer to the middle tells nothing. */
const LEAST_TOLD = 0.1;
/** Only the most telling ones are asked, of what is around a text, and of the text. */
const MOST_AROUND = 30;
const MOST_INSIDE = 15;
/**
 * Words of a text come together: a sentence that many wrote is one piece of evidence, not ten, and so is a language, and so is
 * padding. Each counts for a third.
 */
const INSIDE_WEIGHT = 1 / 3;

/**
 * Weighs words one by one (Robinson's estimate), then all together by Fisher's test, once for junk and once for good: where
 * both find evidence, or none does, the answer stays in the middle.
 */
export function likelihood({ junk, good, words }: Memory): Likelihood {
  if (junk <= 0 || good <= 0) return { junk: 0.5, told: 0 };
  const told = (isInside: boolean, most: number): number[] =>
    words
      .filter(({ hash }) => isOfText(hash) === isInside)
      .map((word) => estimate(word, junk, good))
      .filter((one) => Math.abs(one - 0.5) >= LEAST_TOLD)
      .sort((a, b) => Math.abs(b - 0.5) - Math.abs(a - 0.5))
      .slice(0, most);
  const [around, inside] = [told(false, MOST_AROUND), told(true, MOST_INSIDE)];
  if (around.length + inside.length === 0) return { junk: 0.5, told: 0 };
  const evidence = (of: (estimated: number) => number): number =>
    2 * sum(around.map(of)) + 2 * INSIDE_WEIGHT * sum(inside.map(of));
  const degrees = Math.max(2, 2 * Math.round(around.length + INSIDE_WEIGHT * inside.length));
  // Each is the chance that words which tell nothing would look so much like it.
  const notJunk = chiSquareTail(
    evidence((one) => -Math.log(1 - one)),
    degrees,
  );
  const notGood = chiSquareTail(
    evidence((one) => -Math.log(one)),
    degrees,
  );
  return { junk: (1 + notGood - notJunk) / 2, told: around.length + inside.length };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** Share of junk among messages that have the word, had both kinds come equally often, held back by doubt. */
function estimate(word: WordCount, junk: number, good: number): number {
  const inJunk = word.junk / junk;
  const inGood = word.good / good;
  const seen = word.junk + word.good;
  return inJunk + inGood === 0 ? 0.5 : (DOUBT / 2 + (seen * inJunk) / (inJunk + inGood)) / (DOUBT + seen);
}

/** The chance of at least `value` by a chi-square distribution with that many degrees of freedom, an even number. */
export function chiSquareTail(value: number, degrees: number): number {
  const half = value / 2;
  let term = Math.exp(-half);
  let sum = term;
  for (let i = 1; i < degrees / 2; i++) {
    term *= half / i;
    sum += term;
  }
  return Math.min(1, sum);
}
