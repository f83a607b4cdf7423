import { CODE_WORD, OTHER_NUMBER } from './words.ts';

export type Confidence = 'high' | 'medium' | 'low';

export interface FoundCode {
  code: string;
  confidence: Confidence;
}

/** Characters searched of a text. */
const MAX_TEXT_CHARACTERS = 20_000;
const MAX_CANDIDATES = 200;
/** Distance of a code word before and after the code, in characters. */
const MAX_DISTANCE = { before: 160, behind: 60 };

// Digits, in one or more groups; letters with digits, in one or two groups; capitals alone, after a code word.
const CANDIDATE =
  /(?:\d{3}[ -]\d{3}(?:[ -]\d{3})?|\d{2}[ -]\d{2}[ -]\d{2}|\d{4}[ -]\d{4}|\d(?: \d){3,7}|\d{4,10})(?![A-Za-z0-9])|[A-Z]{1,3}-\d{4,8}|[A-Z0-9]{3,6}-[A-Z0-9]{3,6}|[A-Za-z0-9]{4,12}/g;
const WORD_CHARACTER = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_@+=]$/u;
const CONTINUATION =
  /^(?:[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_@%]|[.,:/-]\d| \d{3}| ?(?:€|\$|£|₺|eur|usd)(?![a-z]))/iu;
const PART_OF_A_NUMBER = /(?:\d[.,:/-]|\d{3} |[€$£¥₺] ?|\+\d{0,3}[ -]?)$/;
const UNITS =
  /^ {0,2}(?:min|hour|hr|day|sec|stund|tag|jahr|heure|jour|hora|día|minut|dakika|saat|gün|мин|час|分|時間|小时|小時|분|시간|px|kb|mb)/i;

interface Scored {
  code: string;
  score: number;
}

/** Finds the sign-in code of a message by rules, in many languages. `text`: visible text without links. */
export function findCode(subject: string, text: string): FoundCode | undefined {
  const head = plainDigits(subject.slice(0, 500));
  const body = plainDigits(text.slice(0, MAX_TEXT_CHARACTERS)).replace(/\[link(?::\d{1,3})?[^\]\n]{0,260}\]/g, (mark) =>
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

/** Positions of the code words in a text. */
function wordsIn(text: string): { from: number; to: number }[] {
  return [...text.matchAll(CODE_WORD)].slice(0, MAX_CANDIDATES).map((found) => ({
    from: found.index,
    to: found.index + found[0].length,
  }));
}

function scored(text: string, isAbout: boolean, more: number): Scored[] {
  const words = wordsIn(text);
  const candidates = [...text.matchAll(CANDIDATE)].filter((found) => isWhole(text, found)).slice(0, MAX_CANDIDATES);
  return candidates.flatMap((found) => {
    const score = scoreOf(text, found, words, isAbout);
    return score === undefined ? [] : [{ code: normalizeCode(found[0]), score: score + more }];
  });
}

function isWhole(text: string, { 0: found, index }: RegExpExecArray): boolean {
  const before = text.slice(Math.max(0, index - 8), index);
  const behind = text.slice(index + found.length, index + found.length + 8);
  if (WORD_CHARACTER.test(before) || PART_OF_A_NUMBER.test(before) || CONTINUATION.test(behind)) return false;
  // Letters alone are a word, unless all are capitals.
  return /\d/.test(found) || /^[A-Z]{4,8}$/.test(found);
}

/** The score of a candidate; undefined: not a code. */
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
      .filter(({ from, to }) => to <= index && index - to <= MAX_DISTANCE.before && from >= 0)
      .map(({ to }) => index - to),
  );
  const follows = words.some(
    ({ from }) => from >= end && from - end <= MAX_DISTANCE.behind && !text.slice(end, from).includes('\n'),
  );
  const hasDigit = /\d/.test(found);
  const says = distance <= 3 || (distance <= MAX_DISTANCE.before && isAlone);
  // Letters alone count only on a line of their own after a code word: otherwise they are a word or a name.
  if (!hasDigit && !(says && isAlone)) return undefined;
  if (/[a-z]/.test(found) && distance > 12 && !isAlone) return undefined;
  let score = distance <= 40 ? 5 : distance <= MAX_DISTANCE.before ? 3 : 0;
  if (follows) score = Math.max(score, 5);
  if (score === 0 && !(isAlone && isAbout)) return undefined;
  if (isAbout) score += 1;
  if (isAlone) score += 3;
  if (distance <= 12) score += 1;
  if (/^\d{3}[ -]?\d{3}$/.test(found)) score += 1;
  if (/^(?:19|20)\d\d$/.test(found)) score -= 4;
  return score;
}

/** Removes separators from digit groups; in codes with letters the hyphen is part of the code. */
function normalizeCode(found: string): string {
  return /^[\d -]+$/.test(found) ? found.replace(/[ -]/g, '') : found;
}

/** Code points of the digit zero in other scripts. */
const ZEROS = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0,
];

/** Replaces digits, full-width Latin letters, dashes and spaces by ASCII; offsets stay the same. */
function plainDigits(text: string): string {
  return text.replace(
    /[\u0660-\u17e9\uff0d\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u2010-\u2015\u2212\u00a0\u2000-\u200a\u202f\u3000]/g,
    plainSign,
  );
}

function plainSign(sign: string): string {
  const code = sign.charCodeAt(0);
  if (code >= 0xff01) return String.fromCharCode(code - 0xfee0);
  if (code < 0x2000 && code !== 0xa0) {
    const zero = ZEROS.find((one) => code >= one && code < one + 10);
    return zero === undefined ? sign : String(code - zero);
  }
  return (code >= 0x2010 && code <= 0x2015) || code === 0x2212 ? '-' : ' ';
}
