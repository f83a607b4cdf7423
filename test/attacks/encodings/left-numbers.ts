import { createCipheriv, createDecipheriv } from 'node:crypto';
import {
  base64,
  bitsOf,
  each,
  fromBase,
  fromBits,
  type LeavingEncoding,
  octetsOf,
  substitute,
  textOf,
  toBase,
} from './digits.ts';

/** An encoding of each octet as a word. */
export function inWords(name: string, word: (octet: number) => string, between = ' '): LeavingEncoding {
  const words = Array.from({ length: 256 }, (_, octet) => word(octet));
  return {
    name,
    encode: (secret) => ({ text: octetsOf(secret).map(word).join(between) }),
    decode: ([text = '']) => textOf(splitAt(text, between).map((one) => words.indexOf(one))),
  };
}

/** A line may have been broken at a blank. */
function splitAt(text: string, between: string): string[] {
  return between === '' ? Array.from(text.replace(/\s+/g, '')) : text.split(between === ' ' ? /\s+/ : between);
}

/** The octets as one number in the base of an alphabet. */
export const inBase = (name: string, digits: string): LeavingEncoding => ({
  name,
  encode: (secret) => ({ text: toBase(digits, secret) }),
  decode: ([text = '']) => fromBase(digits, text.replace(/\s+/g, '')),
});

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';

/** Groups of bits, the last one filled with zeros, each as a digit. */
function inBits(name: string, width: number, digits: string): LeavingEncoding {
  const groups = (bits: string): string[] => bits.match(new RegExp(`[01]{1,${width}}`, 'g')) ?? [];
  return {
    name,
    encode: (secret) => ({
      text: groups(bitsOf(secret))
        .map((bits) => digits[Number.parseInt(bits.padEnd(width, '0'), 2)])
        .join(''),
    }),
    decode: ([text = '']) =>
      fromBits(each(text.replace(/\s+/g, ''), (digit) => digits.indexOf(digit).toString(2).padStart(width, '0'))),
  };
}

const BASE45 = `${DIGITS}${UPPER} $%*+-./:`;

/** RFC 9285: two octets as three digits, the least first. */
const base45: LeavingEncoding = {
  name: 'base45',
  encode: (secret) => {
    const octets = Buffer.from(secret);
    let text = '';
    for (let at = 0; at < octets.length; at += 2) {
      const number = octets.readUInt16BE(at);
      for (const base of [1, 45, 2025]) text += BASE45[Math.floor(number / base) % 45];
    }
    return { text: `[${text}]` };
  },
  decode: ([text = '']) =>
    (text.slice(1, -1).match(/[^]{3}/g) ?? [])
      .map((three) => Array.from(three, (digit) => BASE45.indexOf(digit)))
      .map(([a = 0, b = 0, c = 0]) => a + 45 * b + 2025 * c)
      .map((number) => textOf([number >> 8, number & 255]))
      .join(''),
};

const KEY = Buffer.alloc(16, 'mallory');
const aes = (): LeavingEncoding => ({
  name: 'AES in base64',
  encode: (secret) => {
    const cipher = createCipheriv('aes-128-ctr', KEY, Buffer.alloc(16));
    return { text: base64(Buffer.concat([cipher.update(secret), cipher.final()])) };
  },
  decode: ([text = '']) => {
    const cipher = createDecipheriv('aes-128-ctr', KEY, Buffer.alloc(16));
    return Buffer.concat([cipher.update(Buffer.from(text, 'base64')), cipher.final()]).toString();
  },
});

const xor = (data: Buffer): Buffer => Buffer.from(data.map((octet, i) => octet ^ (KEY[i % 7] ?? 0) ^ 0x80));

const STANDARD = `${UPPER}${UPPER.toLowerCase()}${DIGITS}+/`;
const TURNED = Array.from(STANDARD).toReversed().join('');

/** Other digits, and ciphers of octets. */
export const LEFT_NUMBERS: readonly LeavingEncoding[] = [
  inBits('base4', 2, 'ACGT'),
  inBits('base16 in other letters', 4, 'ghijklmnopqrstuv'),
  inBits('base32hex', 5, `${DIGITS}ABCDEFGHIJKLMNOPQRSTUV`),
  inBits('base32 of Crockford', 5, `${DIGITS}ABCDEFGHJKMNPQRSTVWXYZ`),
  inBase('base26', UPPER),
  base45,
  inBase('base62', `${DIGITS}${UPPER}${UPPER.toLowerCase()}`),
  {
    name: 'base64 in other letters',
    encode: (secret) => ({ text: substitute(base64(secret), STANDARD, TURNED) }),
    decode: ([text = '']) => Buffer.from(substitute(text, TURNED, STANDARD), 'base64').toString(),
  },
  inWords('codes with an addition', (octet) => String(octet + 1000)),
  inWords('signs of another script', (octet) => String.fromCodePoint(0x4e00 + octet), ''),
  inWords('Braille', (octet) => String.fromCodePoint(0x2800 + octet), ''),
  {
    name: 'XOR in hexadecimal',
    encode: (secret) => ({ text: xor(Buffer.from(secret)).toString('hex') }),
    decode: ([text = '']) => xor(Buffer.from(text.replace(/\s+/g, ''), 'hex')).toString(),
  },
  aes(),
];
