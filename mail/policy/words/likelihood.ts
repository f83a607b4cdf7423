import { isTextWord } from './message-words.ts';

/** Counts of one word in one account; older samples weigh less. */
export interface WordCount {
  /** Word number, message-words.ts. */
  hash: number;
  junk: number;
  good: number;
}

/** Training data of an account for the words of one message. */
export interface WordStatistics {
  /** Weighted numbers of training samples. */
  junk: number;
  good: number;
  /** Words of the message that occur in the training data. */
  words: readonly WordCount[];
}

/** Probability of junk by words alone. */
export interface JunkLikelihood {
  /** 0 to 1; 0.5 is undecided. */
  junk: number;
  /** Number of words that were used. */
  significantWords: number;
}

/** Weight of the neutral prior of each word (Robinson's s). */
const PRIOR_WEIGHT = 0.7;
/** Words closer to 0.5 are ignored. */
const MIN_DEVIATION = 0.1;
/** Only the most significant words count, of the header and of the text. */
const MAX_HEADER_WORDS = 30;
const MAX_TEXT_WORDS = 15;
/**
 * Weight of a text word. Words of a text are correlated: a common sentence, a language or padding is one piece of evidence,
 * not ten.
 */
const TEXT_WORD_WEIGHT = 1 / 3;

/**
 * Estimates each word by Robinson's formula, then combines all by Fisher's method, once for junk and once for good. With
 * evidence for both, or for none, the result stays near 0.5.
 */
export function estimateJunk({ junk, good, words }: WordStatistics): JunkLikelihood {
  if (junk <= 0 || good <= 0) return { junk: 0.5, significantWords: 0 };
  const selectWords = (isText: boolean, max: number): number[] =>
    words
      .filter(({ hash }) => isTextWord(hash) === isText)
      .map((word) => estimateWord(word, junk, good))
      .filter((one) => Math.abs(one - 0.5) >= MIN_DEVIATION)
      .sort((a, b) => Math.abs(b - 0.5) - Math.abs(a - 0.5))
      .slice(0, max);
  const [header, text] = [selectWords(false, MAX_HEADER_WORDS), selectWords(true, MAX_TEXT_WORDS)];
  if (header.length + text.length === 0) return { junk: 0.5, significantWords: 0 };
  const evidence = (of: (estimated: number) => number): number =>
    2 * sum(header.map(of)) + 2 * TEXT_WORD_WEIGHT * sum(text.map(of));
  const degrees = Math.max(2, 2 * Math.round(header.length + TEXT_WORD_WEIGHT * text.length));
  // p-values: the chance that neutral words would look this much like junk, or like good mail.
  const notJunk = chiSquareTail(
    evidence((one) => -Math.log(1 - one)),
    degrees,
  );
  const notGood = chiSquareTail(
    evidence((one) => -Math.log(one)),
    degrees,
  );
  return { junk: (1 + notGood - notJunk) / 2, significantWords: header.length + text.length };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** Estimates the share of junk among messages with the word, normalized for class size, with a neutral prior. */
function estimateWord(word: WordCount, junk: number, good: number): number {
  const inJunk = word.junk / junk;
  const inGood = word.good / good;
  const seen = word.junk + word.good;
  return inJunk + inGood === 0 ? 0.5 : (PRIOR_WEIGHT / 2 + (seen * inJunk) / (inJunk + inGood)) / (PRIOR_WEIGHT + seen);
}

/** Upper tail of the chi-square distribution; `degrees` is even. */
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
