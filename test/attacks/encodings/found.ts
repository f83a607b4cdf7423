import { hash } from 'node:crypto';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { tarOf, zipOf } from '../../support/archives.ts';
import { base64, bitsOf, each, type Encoding, file, octetsOf, substitute, toBase } from './digits.ts';

const hex = (data: string | Buffer): string => Buffer.from(data).toString('hex');
const code = (char: string): number => char.codePointAt(0) ?? 0;
const times = (count: number, text: string): string => (count === 0 ? text : times(count - 1, base64(text)));
const lines = (text: string): string => text.replace(/.{16}/g, '$&\n');
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const TURNED = LETTERS.slice(13) + LETTERS.slice(0, 13);
const rot13 = (text: string): string =>
  substitute(text, LETTERS + LETTERS.toUpperCase(), TURNED + TURNED.toUpperCase());
const backwards = (text: string): string => Array.from(text).toReversed().join('');
const zip = (secret: string): Buffer => zipOf([{ name: 'a.txt', data: Buffer.from(secret) }]);
const nested = (secret: string): Buffer =>
  Array.from({ length: 6 }).reduce<Buffer>((inner) => gzipSync(inner), Buffer.from(secret));

const B32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const B58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const RFC1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const ASCII85 = Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join('');

function base32(text: string): string {
  const groups = bitsOf(text).match(/[01]{1,5}/g) ?? [];
  return groups.map((bits) => B32[Number.parseInt(bits.padEnd(5, '0'), 2)]).join('');
}

/** Four octets as five digits; the secret is a multiple of four long. */
function base85(digits: string, octets: Buffer): string {
  let text = '';
  for (let at = 0; at < octets.length; at += 4) {
    const number = octets.readUInt32BE(at);
    for (let i = 4; i >= 0; i--) text += digits[Math.floor(number / 85 ** i) % 85] ?? '';
  }
  return text;
}

function uuencode(text: string): string {
  const all = (base64(text).match(/.{1,60}/g) ?? []).map((line) => {
    const signs = each(line, (sign) => String.fromCharCode(32 + (Buffer.from(`${sign}AAA`, 'base64')[0] ?? 0) / 4));
    return String.fromCharCode(32 + Buffer.from(line, 'base64').length) + signs;
  });
  return `begin 644 notes\n${all.join('\n')}\n\`\nend`;
}

const says = (name: string, write: (secret: string) => string): Encoding => ({
  name,
  encode: (secret) => ({ text: write(secret) }),
});

const inUnits = (name: string, write: (octet: number) => string): Encoding =>
  says(name, (secret) => octetsOf(secret).map(write).join(''));

/** Refused as `secret_in_message`. */
export const FOUND: readonly Encoding[] = [
  says('plain', (secret) => secret),
  says('upper case', (secret) => secret.toUpperCase()),
  says('backwards', backwards),
  says('ROT13', rot13),
  says('blanks between', (secret) => Array.from(secret).join(' ')),
  says('signs between', (secret) => Array.from(secret).join('.')),
  says('soft hyphens between', (secret) => Array.from(secret).join('\u00ad')),
  says('full-width letters', (secret) => each(secret, (char) => String.fromCodePoint(code(char) + 0xfee0))),
  says('mathematical letters', (secret) =>
    each(secret, (char) => (/[a-z]/.test(char) ? String.fromCodePoint(0x1d41a + code(char) - 97) : char)),
  ),
  says('base64', base64),
  says('base64url', (secret) => Buffer.from(secret).toString('base64url')),
  says('base64 in lines', (secret) => lines(base64(secret))),
  says('base64 four times', (secret) => times(4, secret)),
  says('base64 of UTF-16', (secret) => base64(Buffer.from(secret, 'utf16le'))),
  says('base64 of zlib', (secret) => base64(deflateSync(secret))),
  says('base64 of gzip', (secret) => base64(gzipSync(secret))),
  says('base64 backwards', (secret) => backwards(base64(secret))),
  says('base64 of hexadecimal', (secret) => base64(hex(secret))),
  says('ROT13 of base64', (secret) => rot13(base64(secret))),
  says('UTF-7', (secret) => `+${base64(Buffer.from(secret, 'utf16le').swap16()).replaceAll('=', '')}-`),
  says('base32', base32),
  says('base32 in lower case', (secret) => base32(secret).toLowerCase()),
  says('base36', (secret) => toBase('0123456789abcdefghijklmnopqrstuvwxyz', secret)),
  says('base58', (secret) => toBase(B58, secret)),
  says('ascii85', (secret) => base85(ASCII85, Buffer.from(secret))),
  says('base85 of RFC 1924', (secret) => base85(RFC1924, Buffer.from(secret))),
  says('z85', (secret) => base85(Z85, Buffer.from(secret))),
  says('uuencode', uuencode),
  says('hexadecimal', hex),
  says('hexadecimal with colons', (secret) => hex(secret).replace(/..(?=.)/g, '$&:')),
  says('hexadecimal of zlib', (secret) => hex(deflateSync(secret))),
  inUnits('octal octets', (octet) => `${octet.toString(8).padStart(3, '0')} `),
  inUnits('binary octets', (octet) => `${octet.toString(2).padStart(8, '0')} `),
  inUnits('decimal codes', (octet) => `${octet} `),
  says('one decimal number', (secret) => toBase('0123456789', secret)),
  inUnits('percent escapes', (octet) => `%${octet.toString(16)}`),
  inUnits('backslash escapes', (octet) => `\\x${octet.toString(16)}`),
  inUnits('unicode escapes', (octet) => `\\u00${octet.toString(16)}`),
  inUnits('quoted-printable', (octet) => `=${octet.toString(16).toUpperCase()}`),
  inUnits('character references', (octet) => `&#${octet};`),
  inUnits('hexadecimal references', (octet) => `&#x${octet.toString(16)};`),
  says('three pieces', (secret) => (secret.match(/.{1,18}/g) ?? []).join('\nand then\n')),
  { name: 'HTML tags within', encode: (secret) => ({ html: `<p>${each(secret, (char) => `<b>${char}</b>`)}</p>` }) },
  { name: 'HTML comments within', encode: (secret) => ({ html: `<p>${Array.from(secret).join('<!-- x -->')}</p>` }) },
  { name: 'HTML attributes', encode: (secret) => ({ html: `<p title="${secret}">Hello</p>` }) },
  { name: 'file names', encode: (secret) => file('nothing', `${secret}.txt`) },
  { name: 'text files', encode: (secret) => file(secret, 'a.txt') },
  { name: 'UTF-16 files', encode: (secret) => file(Buffer.from(`\ufeff${secret}`, 'utf16le')) },
  { name: 'zip', encode: (secret) => file(zip(secret)) },
  { name: 'zip in base64 in a text', encode: (secret) => ({ text: base64(zip(secret)) }) },
  { name: 'gzip', encode: (secret) => file(gzipSync(secret)) },
  { name: 'zlib', encode: (secret) => file(deflateSync(secret)) },
  { name: 'tar', encode: (secret) => file(tarOf([{ name: 'a.txt', data: Buffer.from(secret) }])) },
  says('tags', (secret) => `Hi${each(secret, (char) => String.fromCodePoint(0xe0000 + code(char)))}`),
  inUnits('variation selectors', (octet) => String.fromCodePoint(0xe0100 + octet)),
  says('zero-width signs', (secret) => `Hi${substitute(bitsOf(secret), '01', '\u200b\u2060')}`),
];

/** Flips bits, so that digits become control characters. */
const masked = (secret: string): Buffer => Buffer.from(octetsOf(secret).map((octet) => octet ^ 0x35));
/** A short text would be stored as it is. */
const zstd = (secret: string): Buffer => zstdCompressSync(`${secret}${hash('sha512', 'more', 'hex').repeat(8)}`);

/** Held for a person as `not_looked_into`. */
export const HELD: readonly Encoding[] = [
  { name: 'zstd', encode: (secret) => file(zstd(secret)) },
  {
    name: 'zip with another compression',
    encode: (secret) => {
      const data = Buffer.from(secret);
      return file(zipOf([{ name: 'a.txt', data, method: 93, packed: zstd(secret) }]));
    },
  },
  {
    name: 'encrypted zip',
    encode: (secret) => file(zipOf([{ name: 'a.txt', data: Buffer.from(masked(secret)), method: 0, locked: true }])),
  },
  { name: 'gzip six times', encode: (secret) => file(nested(secret)) },
  { name: 'octets of an unknown type', encode: (secret) => file(masked(secret)) },
];
