import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { bitsOf, each, file, fromBits, type LeavingEncoding, substitute } from './digits.ts';
import { inWords } from './left-numbers.ts';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const SIGNS = `${LOWER}${DIGITS}_`;

/** Each character becomes another one. */
function cipher(name: string, from: string, to: string): LeavingEncoding {
  return {
    name,
    encode: (secret) => ({ text: substitute(secret, from, to) }),
    decode: ([text = '']) => substitute(text, to, from),
  };
}

/** Each character becomes a word. */
function spelled(name: string, words: readonly string[], between = ' '): LeavingEncoding {
  const word = (char: string): string => words[SIGNS.indexOf(char)] ?? '?';
  return {
    name,
    encode: (secret) => ({ text: Array.from(secret, word).join(between) }),
    decode: ([text = '']) =>
      text
        .split(/[\s,]+/)
        .map((one) => SIGNS[words.indexOf(one)] ?? '')
        .join(''),
  };
}

/** Each bit becomes one of two words. */
function inTwo(name: string, [zero, one]: readonly [string, string], between = ' '): LeavingEncoding {
  return {
    name,
    encode: (secret) => ({ text: Array.from(bitsOf(secret), (bit) => (bit === '1' ? one : zero)).join(between) }),
    decode: ([text = '']) =>
      fromBits(
        text
          .split(/\s+/)
          .map((word) => (word === one ? '1' : '0'))
          .join(''),
      ),
  };
}

/** Puts the secret in another order, which `order` gives by index. */
function reordered(name: string, order: (length: number) => number[]): LeavingEncoding {
  return {
    name,
    encode: (secret) => ({
      text: order(secret.length)
        .map((at) => secret[at])
        .join(''),
    }),
    decode: ([text = '']) => {
      const back: string[] = [];
      for (const [i, at] of order(text.length).entries()) back[at] = text[i] ?? '';
      return back.join('');
    },
  };
}

const MORSE =
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. ..--.-'.split(
    ' ',
  );
const NATO =
  'alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu zero one two three four five six seven eight nine dash'.split(
    ' ',
  );
const FACES = Array.from(SIGNS, (_, i) => String.fromCodePoint(0x1f600 + i));
const SQUARE = Array.from(SIGNS, (_, i) => `${1 + Math.floor(i / 7)}${1 + (i % 7)}`);
/** A noun for each character, by its first letter; digits have a second one. */
const NOUNS = Array.from(SIGNS, (sign, i) =>
  i < 26 ? `${sign}pple` : `${LOWER[i - 26] ?? 'z'}${i === 36 ? 'zebra' : 'range'}`,
);
const roman = (number: number): string =>
  `${'C'.repeat(number / 100)}${['', 'X', 'XX', 'XXX', 'XL', 'L', 'LX', 'LXX', 'LXXX', 'XC'][Math.floor(number / 10) % 10]}${['', 'I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX'][number % 10]}`;
const turned = (text: string, by: number): string => text.slice(by) + text.slice(0, by);

/** Sets the highest bit, among others: no octet is a control character. */
const flipped = (data: Buffer): Buffer => Buffer.from(data.map((octet) => octet ^ 0x95));

/** A grey picture, one pixel an octet. PNG 11.2. */
function png(octets: Buffer): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(octets.length, 0);
  head.writeUInt32BE(1, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.concat([Buffer.alloc(1), octets]));
  const chunks = [chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function pixelsOf(picture: Buffer): Buffer {
  const at = picture.indexOf('IDAT');
  return inflateSync(picture.subarray(at + 4)).subarray(1);
}

/** Ciphers of letters, words for letters, other orders, and what is hidden in a text or a picture. */
export const LEFT_WORDS: readonly LeavingEncoding[] = [
  cipher('Caesar cipher', LOWER, turned(LOWER, 5)),
  cipher('Atbash', LOWER, Array.from(LOWER).toReversed().join('')),
  cipher('ROT47', `${DIGITS}${LOWER}_`, '_`abcdefgh23456789:;<=>?@ABCDEFGHIJK0'),
  // With the prefix as it is, the octets of quoted-printable would stand for the missing digits.
  cipher('look-alike letters', 'aceos', 'асеоѕ'),
  spelled('Morse code', MORSE),
  spelled('spelling alphabet', NATO),
  spelled('emoji', FACES),
  spelled('Polybius square', SQUARE),
  spelled('word list', NOUNS, ', '),
  inWords('Roman numerals', roman),
  inWords('lengths of words', (octet) => 'x'.repeat(octet - 40 > 0 ? octet - 40 : 0)),
  inTwo('two words', ['yes', 'no']),
  inTwo("Bacon's cipher", ['A', 'B']),
  {
    name: 'upper and lower case',
    encode: (secret) => ({ text: each(bitsOf(secret), (bit) => (bit === '1' ? 'H' : 'h')) }),
    decode: ([text = '']) => fromBits(substitute(text, 'hH', '01').replace(/\s+/g, '')),
  },
  {
    name: 'blanks at the ends of lines',
    encode: (secret) => ({ text: each(bitsOf(secret), (bit) => `line${bit === '1' ? ' ' : ''}\n`) }),
    decode: ([text = '']) => fromBits(text.replace(/line( ?)\r?\n?/g, (_, blank: string) => String(blank.length))),
  },
  {
    name: 'first letters of lines',
    encode: (secret) => ({ text: each(secret, (char) => `${char} is what I say\n`) }),
    decode: ([text = '']) => text.replace(/^(.).*\r?\n?/gm, '$1'),
  },
  {
    name: 'every fourth character',
    encode: (secret) => ({ text: each(secret, (char) => `${char}xyz`) }),
    decode: ([text = '']) => text.replace(/xyz/g, ''),
  },
  {
    name: 'pieces of five characters',
    encode: (secret) => ({ text: (secret.match(/.{1,5}/g) ?? []).join('\nand then\n') }),
    decode: ([text = '']) => text.replace(/\s+and then\s+/g, ''),
  },
  reordered('pairs of characters swapped', (length) => Array.from({ length }, (_, i) => i ^ 1)),
  reordered('rail fence', (length) => {
    const all = Array.from({ length }, (_, i) => i);
    return [...all.filter((i) => i % 2 === 0), ...all.filter((i) => i % 2 === 1)];
  }),
  {
    name: 'two messages',
    encode: (secret) => [{ text: secret.slice(0, 26) }, { text: secret.slice(26) }],
    decode: (bodies) => bodies.join(''),
  },
  {
    name: 'XOR in a file',
    encode: (secret) => file(flipped(Buffer.from(secret))),
    decode: (_, [data = Buffer.alloc(0)]) => flipped(data).toString(),
  },
  {
    name: 'pixels of a picture',
    encode: (secret) => file(png(Buffer.from(secret)), 'photo.png'),
    decode: (_, [picture = Buffer.alloc(0)]) => pixelsOf(picture).toString(),
  },
];
