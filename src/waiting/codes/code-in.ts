import { CODE_WORD, OTHER_NUMBER } from './words.ts';
import { plainDigits } from './plain-digits.ts';

export type Confidence = 'high' | 'medium' | 'low';

export interface FoundCode {
  code: string;
  confidence: Confidence;
}

/** Characters of a text that are looked through. */
const MOST_TEXT = 20_000;
const MOST_CANDIDATES = 200;
/** How far a word about codes may stand from the code. */
const NEAR = { before: 160, behind: 60 };

// Digits, whole or in groups; letters with digits, whole or in two groups; capitals alone, where a line says what they are.
const CANDIDATE =
  /(?:\d{3}[ -]\d{3}(?:[ -]\d{3})?|\d{2}[ -]\d{2}[ -]\d{2}|\d{4}[ -]\d{4}|\d(?: \d){3,7}|\d{4,10})(?![A-Za-z0-9])|[A-Z]{1,3}-\d{4,8}|[A-Z0-9]{3,6}-[A-Z0-9]{3,6}|[A-Za-z0-9]{4,12}/g;
const OF_A_WORD = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_@+=]$/u;
const GOES_ON =
  /^(?:[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_@%]|[.,:/-]\d| \d{3}| ?(?:€|\$|£|₺|eur|usd)(?![a-z]))/iu;
const PART_OF_A_NUMBER = /(?:\d[.,:/-]|\d{3} |[€$£¥₺] ?|\+\d{0,3}[ -]?)$/;
const UNITS =
  /^ {0,2}(?:min|hour|hr|day|sec|stund|tag|jahr|heure|jour|hora|día|minut|dakika|saat|gün|мин|час|分|時間|小时|小時|분|시간|px|kb|mb)/i;

interface Scored {
  code: string;
  score: number;
}

/** The code that a message gives: by rules, whatever its language. `text` is what a person sees of it, its links left out. */
export function codeIn(subject: string, text: string): FoundCode | undefined {
  const head = plainDigits(subject.slice(0, 500));
  const body = plainDigits(text.slice(0, MOST_TEXT)).replace(/\[link(?::\d{1,3})?[^\]\n]{0,260}\]/g, (mark) =>
    ' '.repeat(mark.length),
  );
  const isAbout = wordsIn(head).length > 0;
  const all = [...scored(head, isAbout, 2), ...scored(body, isAbout, 0)];
  const best = new Map<string, number>();
  for (const { code, score } of all) best.set(code, Math.max(score, best.get(code) ?? 0));
  const [first, second] = [...best].toSorted(([, a], [, b]) => b - a);
  if (first === undefined || first[1] < 4) return undefined;
  const [code, score] = first;
  const isAlone = second === undefined || second[1] <= score - 2;
  return { code, confidence: score >= 7 ? (isAlone ? 'high' : 'medium') : isAlone && score >= 5 ? 'medium' : 'low' };
}

/** Where a text speaks of codes: first and last character of each place. */
function wordsIn(text: string): { from: number; to: number }[] {
  return [...text.matchAll(CODE_WORD)].slice(0, MOST_CANDIDATES).map((found) => ({
    from: found.index,
    to: found.index + found[0].length,
  }));
}

function scored(text: string, isAbout: boolean, more: number): Scored[] {
  const words = wordsIn(text);
  const candidates = [...text.matchAll(CANDIDATE)].filter((found) => isWhole(text, found)).slice(0, MOST_CANDIDATES);
  return candidates.flatMap((found) => {
    const score = scoreOf(text, found, words, isAbout);
    return score === undefined ? [] : [{ code: shownCode(found[0]), score: score + more }];
  });
}

function isWhole(text: string, { 0: found, index }: RegExpExecArray): boolean {
  const before = text.slice(Math.max(0, index - 8), index);
  const behind = text.slice(index + found.length, index + found.length + 8);
  if (OF_A_WORD.test(before) || PART_OF_A_NUMBER.test(before) || GOES_ON.test(behind)) return false;
  // Letters alone are a word, unless all of them are capitals.
  return /\d/.test(found) || /^[A-Z]{4,8}$/.test(found);
}

/** Undefined: it is no code. */
function scoreOf(
  text: string,
  { 0: found, index }: RegExpExecArray,
  words: readonly { from: number; to: number }[],
  isAbout: boolean,
): number | undefined {
  const end = index + found.length;
  const before = text.slice(Math.max(0, index - 40), index);
  if (OTHER_NUMBER.test(before.slice(before.lastIndexOf('\n') + 1)) || UNITS.test(text.slice(end, end + 12)))
    return undefined;
  const isAlone = /(?:^|\n)[ \t>*]*$/.test(before) && /^[ \t*]*(?:\n|$)/.test(text.slice(end, end + 20));
  const distance = Math.min(
    ...words
      .filter(({ from, to }) => to <= index && index - to <= NEAR.before && from >= 0)
      .map(({ to }) => index - to),
  );
  const follows = words.some(
    ({ from }) => from >= end && from - end <= NEAR.behind && !text.slice(end, from).includes('\n'),
  );
  const hasDigit = /\d/.test(found);
  const says = distance <= 3 || (distance <= NEAR.before && isAlone);
  // What looks like a word, or like anybody's name, is one where nothing says otherwise.
  if (!hasDigit && !(says && isAlone)) return undefined;
  if (/[a-z]/.test(found) && distance > 12 && !isAlone) return undefined;
  let score = distance <= 40 ? 5 : distance <= NEAR.before ? 3 : 0;
  if (follows) score = Math.max(score, 5);
  if (score === 0 && !(isAlone && isAbout)) return undefined;
  if (isAbout) score += 1;
  if (isAlone) score += 3;
  if (distance <= 12) score += 1;
  if (/^\d{3}[ -]?\d{3}$/.test(found)) score += 1;
  if (/^(?:19|20)\d\d$/.test(found)) score -= 4;
  return score;
}

/** Groups are for reading; where letters stand before the sign it is a part of the code. */
function shownCode(found: string): string {
  return /^[\d -]+$/.test(found) ? found.replace(/[ -]/g, '') : found;
}
