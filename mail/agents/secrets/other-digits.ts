import { inflated } from '../../message/archive/inflate.ts';
import { printableRuns } from './plain.ts';

/** Decodes octets in binary, octal and base36 digits, base85 in three alphabets, and uuencode. */
export function otherDigits(text: string): string {
  const read = [...octetsOf(text), ...base85Words(text), ...uuLines(text), ...base36Words(text)];
  return read
    .map((octets) => printableRuns(inflated(octets)))
    .filter((one) => one !== '')
    .join('\n');
}

/** Octets by eight binary or three octal digits, each with separators or not. */
function octetsOf(text: string): Buffer[] {
  const binary = text.match(/(?<!\d)(?:[01]{8}[^0-9a-z]{0,2}){4,}/gi) ?? [];
  const octal = text.match(/(?<!\d)(?:[0-3][0-7]{2}[^0-9a-z]{0,2}){4,}/gi) ?? [];
  return [...binary.map((run) => digitsOf(run, 8, 2)), ...octal.map((run) => digitsOf(run, 3, 8))];
}

function digitsOf(run: string, width: number, base: number): Buffer {
  const digits = run.replace(/\D+/g, '');
  const count = Math.floor(digits.length / width);
  return Buffer.from(
    Array.from({ length: count }, (_, i) => Number.parseInt(digits.slice(i * width, (i + 1) * width), base)),
  );
}

const RFC1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const ASCII85 = Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join('');
const ALPHABETS = [ASCII85, RFC1924, Z85].map(
  (digits) => new Map(Array.from(digits, (digit, value) => [digit, value])),
);

function base85Words(text: string): Buffer[] {
  const words = (text.match(/[\x21-\x7e]{10,}/g) ?? []).map((word) => word.replace(/^<~|~>$/g, ''));
  const joined = text.replace(/<~|~>|\s+/g, '');
  return [...words, joined].flatMap((word) => ALPHABETS.map((values) => octets85(word, values)));
}

/** Five digits are four octets; a digit of another alphabet ends the word. */
function octets85(word: string, values: ReadonlyMap<string, number>): Buffer {
  const out: number[] = [];
  for (let at = 0; at + 1 < word.length; at += 5) {
    const group = word.slice(at, at + 5);
    let number = 0;
    for (let i = 0; i < 5; i++) {
      const value = i < group.length ? values.get(group[i] ?? '') : 84;
      if (value === undefined) return Buffer.from(out);
      number = number * 85 + value;
    }
    for (let i = 0; i < group.length - 1; i++) out.push(Math.floor(number / 256 ** (3 - i)) & 0xff);
  }
  return Buffer.from(out);
}

/** Lines of uuencode: a length, and four characters for three octets. */
function uuLines(text: string): Buffer[] {
  const lines = text.match(/^[!-M][ -`]{4,84}$/gm) ?? [];
  return lines.length === 0 ? [] : [Buffer.concat(lines.map(uuLine))];
}

function uuLine(line: string): Buffer {
  const values = Array.from(line, (sign) => (sign.charCodeAt(0) - 32) & 63);
  const out: number[] = [];
  for (let at = 1; at + 3 < values.length; at += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = values.slice(at, at + 4);
    out.push(((a << 2) | (b >> 4)) & 0xff, ((b << 4) | (c >> 2)) & 0xff, ((c << 6) | d) & 0xff);
  }
  return Buffer.from(out.slice(0, values[0] ?? 0));
}

/** The cost of a number grows with the square of its digits: longer words are not decoded. */
const WORD36 = /(?<![0-9a-z])[0-9a-z]{8,160}(?![0-9a-z])/gi;
const MAX_COST = 1_000_000;

/** Words that are one number in base 36, or in decimal digits. */
function base36Words(text: string): Buffer[] {
  const read: Buffer[] = [];
  let cost = 0;
  for (const [word] of text.matchAll(WORD36)) {
    cost += word.length ** 2;
    if (cost > MAX_COST) break;
    read.push(octetsIn(word.toLowerCase(), 36n));
    if (/^\d+$/.test(word)) read.push(octetsIn(word, 10n));
  }
  return read;
}

function octetsIn(digits: string, base: bigint): Buffer {
  let number = 0n;
  for (const digit of digits) number = number * base + BigInt(Number.parseInt(digit, 36));
  const hex = number.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
