import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fileKind } from '../../../mail/agents/secrets/files/kind.ts';
import { hidesData } from '../../../mail/agents/secrets/plain.ts';
import { viewsOf } from '../../../mail/agents/secrets/views.ts';

const SECRET = 'msd_7Qm2x9LrT4vKp8Wz1Yc6Hb3Nd5Gf0Js';
const OCTETS = Buffer.from(SECRET);

const each = (width: number, base: number, separator = ' '): string =>
  [...OCTETS].map((octet) => octet.toString(base).padStart(width, '0')).join(separator);
const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');
const number = (base: number): string => BigInt(`0x${OCTETS.toString('hex')}`).toString(base);

function base85(alphabet: string, octets = OCTETS): string {
  const whole = Buffer.concat([octets, Buffer.alloc((4 - (octets.length % 4)) % 4)]);
  let text = '';
  for (let at = 0; at < whole.length; at += 4) {
    let group = whole.readUInt32BE(at);
    let digits = '';
    for (let i = 0; i < 5; i++, group = Math.floor(group / 85)) digits = (alphabet[group % 85] ?? '') + digits;
    text += digits;
  }
  return text.slice(0, text.length - (whole.length - octets.length));
}
const ASCII85 = Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join('');
const RFC1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

function uuencoded(): string {
  const padded = Buffer.concat([OCTETS, Buffer.alloc((3 - (OCTETS.length % 3)) % 3)]);
  const signs = Array.from(padded.toString('base64'), (sign) => {
    const value = Buffer.from(`${sign}AAA`, 'base64')[0] ?? 0;
    return String.fromCharCode(32 + (value >> 2));
  });
  return `begin 644 x\n${String.fromCharCode(32 + OCTETS.length)}${signs.join('')}\n \nend`;
}

const ENCODED: Readonly<Record<string, string>> = {
  plain: SECRET,
  base64: base64(SECRET),
  'base64 twice': base64(base64(SECRET)),
  'base64 four times': base64(base64(base64(base64(SECRET)))),
  'base64 eight times': Array.from({ length: 8 }).reduce<string>((text) => base64(text), SECRET),
  'base64 of zlib': base64(deflateSync(OCTETS)),
  'base64 of gzip': base64(gzipSync(OCTETS)),
  'base64 of zlib of base64': base64(deflateSync(base64(SECRET))),
  base64url: OCTETS.toString('base64url'),
  'hexadecimal of zlib': deflateSync(OCTETS).toString('hex'),
  hexadecimal: OCTETS.toString('hex'),
  'hexadecimal with blanks': each(2, 16),
  'hexadecimal with colons': each(2, 16, ':'),
  ascii85: base85(ASCII85),
  'ascii85 in its frame': `<~${base85(ASCII85)}~>`,
  'ascii85 of zlib': base85(ASCII85, deflateSync(OCTETS)),
  'base85 of RFC 1924': base85(RFC1924),
  z85: base85(Z85),
  uuencode: uuencoded(),
  'decimal codes': each(1, 10),
  'octal codes': each(3, 8),
  'octal codes, joined': each(3, 8, ''),
  'binary codes': each(8, 2),
  'binary codes, joined': each(8, 2, ''),
  base36: number(36),
  'one decimal number': number(10),
  percent: [...OCTETS].map((octet) => `%${octet.toString(16)}`).join(''),
  'character references': [...OCTETS].map((octet) => `&#${octet};`).join(''),
  reversed: Array.from(SECRET).toReversed().join(''),
};

test.each(Object.entries(ENCODED))('a secret in %s is seen', (_, text) => {
  const seen = [...viewsOf(`Dear all, ${text} and regards`), ...viewsOf(text)];
  expect(seen.some((view) => view.includes(SECRET))).toBe(true);
});

test.each([
  ['tags', 'Hi\u{e0061}\u{e0062}'],
  ['variation selectors', 'Hi\ufe01\ufe02'],
  ['supplementary variation selectors', 'Hi\u{e0101}\u{e0102}'],
  ['an emoji selector after a letter', 'H\ufe0fi'],
  ['zero-width blanks', 'H\u200bi'],
  ['word joiners', 'H\u2060i'],
  ['zero-width joiners between Latin letters', 'H\u200di\u200ct'],
  ['two joiners in an emoji', '👩\u200d\u200d🚀'],
  ['Hangul fillers', 'H\u3164i'],
])('%s carry data unseen', (_, text) => {
  expect(hidesData(text)).toBe(true);
});

test.each(['Hello', 'Grüße, 日本語', '❤️ 1️⃣ #️⃣', '👩‍🚀 👨‍👩‍👧', 'می‌خواهم', 'क्‍ष', '🇩🇪', 'a\u00adb'])(
  '%s carries none',
  (text) => {
    expect(hidesData(text)).toBe(false);
  },
);

test('a deflated file is opened, whatever its size', () => {
  expect(fileKind(deflateSync(OCTETS))).toBe('zlib');
  expect(fileKind(Buffer.from('x stands for anything'))).toBe('text');
  expect(fileKind(Buffer.from('x'))).toBe('text');
});
