import { printableIn } from './plain.ts';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const DIGITS32 = valuesOf(BASE32);
const DIGITS58 = valuesOf(BASE58);

function valuesOf(digits: string): ReadonlyMap<string, number> {
  return new Map(Array.from(digits, (digit, value) => [digit, value]));
}

/** A word, continued on the next lines. */
const LINES32 = /[a-z2-7]{8,}(?:=*[ \t>]*\r?\n[ \t>]*[a-z2-7]+)*/gi;

/** Decodes base32 words in either case and across lines. RFC 4648 6. */
export function base32(text: string): string {
  const words = new Set([...(text.match(/[a-z2-7]{8,}/gi) ?? []), ...(text.match(LINES32) ?? [])]);
  const read: Buffer[] = [];
  for (const word of words) read.push(octets32(word.replace(/[^a-z2-7]+/gi, '').toLowerCase()));
  return printableIn(read);
}

function octets32(digits: string): Buffer {
  const octets = Buffer.alloc(Math.floor((digits.length * 5) / 8));
  let bits = 0;
  let kept = 0;
  let at = 0;
  for (const digit of digits) {
    bits = ((bits << 5) | (DIGITS32.get(digit) ?? 0)) & 0xfff;
    kept += 5;
    if (kept < 8) continue;
    kept -= 8;
    octets[at++] = (bits >> kept) & 0xff;
  }
  return octets;
}

/** Words of base58 digits; longer ones are not decoded. */
const WORD58 = /(?<![1-9A-Za-z])[1-9A-HJ-NP-Za-km-z]{8,160}(?![1-9A-Za-z])/g;
/** The cost of a number grows with the square of its digits; budget of one text. */
const MAX_COST = 1_000_000;

/** Decodes base58 (the Bitcoin alphabet) in words of lower and upper case letters. */
export function base58(text: string): string {
  const read: Buffer[] = [];
  let cost = 0;
  for (const [word] of text.matchAll(WORD58)) {
    if (!/[A-Z]/.test(word) || !/[a-z]/.test(word)) continue;
    cost += word.length ** 2;
    if (cost > MAX_COST) break;
    read.push(octets58(word));
  }
  return printableIn(read);
}

function octets58(digits: string): Buffer {
  let number = 0n;
  for (const digit of digits) number = number * 58n + BigInt(DIGITS58.get(digit) ?? 0);
  const hex = number.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
