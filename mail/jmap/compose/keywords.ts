import { ANSWERED, DRAFT, FLAGGED, type FlagSet, SEEN } from '../../store/flags.ts';
import { plainObject, wrong } from '../arguments.ts';
import { SetRefusal } from '../set-refusal.ts';

/** As many as the store can keep with one message: four system flags, 26 slots, and 100 beyond. */
const MOST_KEYWORDS = 130;

const SYSTEM: Readonly<Record<string, number>> = {
  $seen: SEEN,
  $answered: ANSWERED,
  $flagged: FLAGGED,
  $draft: DRAFT,
};

/** RFC 8621 4.1.1: what IMAP can say too, in lower case. */
export function readKeyword(name: string, path: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(name) || /[(){\]%*"\\]/.test(name)) {
    throw wrong(path, 'must have keywords of up to 255 ASCII characters without blanks and (){]%*"\\');
  }
  return name.toLowerCase();
}

/** `{ "$seen": true }` as flags. */
export function readKeywords(value: unknown, path: string): FlagSet {
  const names = Object.entries(plainObject(value, path)).map(([name, is]) => {
    if (is !== true) throw wrong(path, 'must have true for each keyword');
    return readKeyword(name, path);
  });
  return keywordFlags(names);
}

/** The flags that these keywords are. */
export function keywordFlags(names: readonly string[]): FlagSet {
  if (names.length > MOST_KEYWORDS) throw tooManyKeywords();
  let bits = 0;
  for (const name of names) bits |= systemBit(name);
  return { bits, keywords: names.filter((name) => systemBit(name) === 0) };
}

function systemBit(name: string): number {
  return Object.hasOwn(SYSTEM, name) ? (SYSTEM[name] ?? 0) : 0;
}

/** RFC 8621 4.6. */
export function tooManyKeywords(): SetRefusal {
  return new SetRefusal('tooManyKeywords', 'An email cannot carry that many keywords: take some of them away.');
}
