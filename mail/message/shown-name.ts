import { decodeWords } from './encoded-word.ts';

/** Rounds of decoding: some clients decode an encoded-word inside another. */
const ROUNDS = 4;

/** Characters that turn the direction of text: U+202E shows `moc.tset@oec` as an address. */
const DIRECTION_OVERRIDE = /[\u202d\u202e]/u;

/** True if a display name may be shown in another order than it is written. */
export function overridesDirection(name: string): boolean {
  return DIRECTION_OVERRIDE.test(decodeAll(name));
}

/**
 * Returns a display name as it may be shown: decoded, without quotes and invisible characters, with full-width letters
 * and the dots of IDNA in ASCII.
 */
export function shownName(name: string): string {
  const visible = decodeAll(name).replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.normalize('NFKC').replaceAll('\u3002', '.');
}

/** Lists the words of a display name that a reader may take for an address, with or without blanks around the "@". */
export function shownAddresses(name: string): string[] {
  return joinAddresses(shownName(name).split(/[\s<>()[\],:;']+/)).filter(looksLikeAddress);
}

function decodeAll(name: string): string {
  let text = unquoted(name);
  for (let round = 0; round < ROUNDS && text.includes('=?'); round++) {
    text = unquoted(decodeWords(Buffer.from(text).toString('latin1')));
  }
  return text;
}

function unquoted(text: string): string {
  return text.replace(/[\\"]/g, '');
}

/** Joins `ceo @ bank.test` and `ceo@bank .test`. */
function joinAddresses(words: readonly string[]): string[] {
  const joined: string[] = [];
  let previous = '';
  for (const word of words) {
    const joins = /^[@.]/.test(word) || previous.endsWith('@') || previous === '.';
    if (joins && joined.length > 0) joined.push(`${joined.pop() ?? ''}${word}`);
    else joined.push(word);
    previous = word;
  }
  return joined;
}

/** True for text, "@", a domain with a dot inside. Anchored for each "@": linear on a run of them. */
function looksLikeAddress(word: string): boolean {
  const [local = '', ...domains] = word.split('@');
  const isAfterText = local !== '' || domains.length > 1;
  return isAfterText && domains.some((text) => /^[\p{L}\p{M}\p{N}_-]+\.[\p{L}\p{M}\p{N}]/u.test(text));
}
