import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { Base64Decoder } from './base64-decoder.ts';
import { decodeUtf7 } from './utf7.ts';

/** Decodes a Content-Transfer-Encoding; an unknown one leaves the octets unchanged. Never throws. RFC 2045 6. */
export function decodeTransfer(bytes: Uint8Array, encoding: string): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (encoding.toLowerCase()) {
    case 'base64':
      return decodeBase64(buffer);
    case 'quoted-printable':
      return decodeQuotedPrintable(buffer);
    default:
      return buffer;
  }
}

/** Decodes base64 leniently: skips foreign characters; padding in the middle starts a new run. */
export function decodeBase64(buffer: Buffer): Buffer {
  const text = buffer.toString('latin1');
  const padding = text.indexOf('=');
  // Buffer stops at padding.
  if (padding < 0 || !/[^=\s]/.test(text.slice(padding))) return Buffer.from(text, 'base64');
  return new Base64Decoder().push(buffer);
}

/** Decodes quoted-printable: drops blanks before line ends, keeps broken escapes as they are. */
export function decodeQuotedPrintable(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let blanks = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === 61) {
      const soft = softBreak(bytes, i + 1);
      const escaped = soft > 0 ? -1 : (hex(bytes[i + 1]) << 4) | hex(bytes[i + 2]);
      blanks = 0;
      if (soft > 0) i += soft;
      else if (escaped >= 0) {
        out[length++] = escaped;
        i += 2;
      } else out[length++] = byte;
      continue;
    }
    // RFC 2045 6.7 rule 3: blanks at the end of a line were added in transit.
    if (byte === 10 || byte === 13) length -= blanks;
    blanks = byte === 32 || byte === 9 ? blanks + 1 : 0;
    out[length++] = byte;
  }
  return out.subarray(0, length);
}

/** Length of a soft line break after `=`; 0 if there is none. */
function softBreak(bytes: Buffer, from: number): number {
  let i = from;
  // The bound keeps a line of "= = = =" linear; real mail has only a few blanks.
  while (i < from + 80 && (bytes[i] === 32 || bytes[i] === 9)) i++;
  if (i >= bytes.length) return Math.max(1, i - from);
  if (bytes[i] === 13 && bytes[i + 1] === 10) return i + 2 - from;
  return bytes[i] === 10 ? i + 1 - from : 0;
}

/** Value of a hexadecimal digit; else -256, which keeps a combined value negative. */
function hex(byte: number | undefined): number {
  if (byte === undefined) return -256;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -256;
}

/** Charset names in real mail that TextDecoder (WHATWG) does not know. */
const ALIASES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  'x-sjis-jp': 'shift_jis',
  'iso-2022-jp-1': 'iso-2022-jp',
  'iso-2022-jp-2': 'iso-2022-jp',
  'iso-2022-jp-ms': 'iso-2022-jp',
  cp50220: 'iso-2022-jp',
  cp936: 'gbk',
  'x-gbk': 'gbk',
  'gb18030-2022': 'gb18030',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp950: 'big5',
  'windows-1252-http': 'windows-1252',
  latin1: 'windows-1252',
  'latin-1': 'windows-1252',
  'iso-8859-1': 'windows-1252',
  'iso8859-1': 'windows-1252',
  'iso_8859-1': 'windows-1252',
  'cp-1252': 'windows-1252',
  cp1252: 'windows-1252',
  macroman: 'macintosh',
  'x-mac-roman': 'macintosh',
};

/** Names that mail programs put where they do not know the charset. */
const PLACEHOLDERS = new Set(['', 'unknown-8bit', 'x-unknown', 'unknown', '8bit']);

/** Declared charsets that do not identify the real one, which is guessed. */
const UNDECLARED_CHARSETS = new Set([...PLACEHOLDERS, 'us-ascii', 'ascii', 'ansi_x3.4-1968']);

/** Decodes octets of a charset. An unknown charset is guessed; invalid sequences become U+FFFD. Never throws. */
export function decodeCharset(bytes: Uint8Array, charset: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const name = charset.trim().toLowerCase();
  const label = ALIASES[name] ?? name;
  if (label === 'utf-8' || label === 'utf8') return buffer.toString('utf8');
  if (UNDECLARED_CHARSETS.has(label)) return guessCharset(buffer);
  if (label === 'windows-1252') return decodeWindows1252(buffer);
  if (label === 'utf-7' || label === 'unicode-1-1-utf-7') return decodeUtf7(buffer.toString('latin1'));
  const decoder = decoderOf(label);
  return decoder === undefined ? guessCharset(buffer) : decoder.decode(buffer);
}

/** True if a name says that the charset is not known, and does not name one. */
export function isPlaceholderCharset(charset: string): boolean {
  return PLACEHOLDERS.has(charset.trim().toLowerCase());
}

/** True if a charset is supported. */
export function isKnownCharset(charset: string): boolean {
  const name = charset.trim().toLowerCase();
  const label = ALIASES[name] ?? name;
  return (
    UNDECLARED_CHARSETS.has(label) ||
    label === 'utf-7' ||
    label === 'unicode-1-1-utf-7' ||
    decoderOf(label) !== undefined
  );
}

/** Decodes and flags text that was invalid or had to be guessed (isEncodingProblem). RFC 8621 4.1.4. */
export function decodeWithProblem(bytes: Uint8Array, charset: string): { text: string; doubtful: boolean } {
  const name = charset.trim().toLowerCase();
  const text = decodeCharset(bytes, name);
  if (UNDECLARED_CHARSETS.has(name)) return { text, doubtful: !isAscii(bytes) };
  if (name === 'utf-8' || name === 'utf8') return { text, doubtful: !isUtf8(bytes) };
  return { text, doubtful: !isKnownCharset(name) || text.includes('\ufffd') };
}

/** Guesses UTF-8 if valid, else windows-1252. */
function guessCharset(buffer: Buffer): string {
  if (isAscii(buffer)) return buffer.toString('latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : decodeWindows1252(buffer);
}

/** Guesses the charset of header text that was read as latin1. */
export function guessLatin1(text: string): string {
  return isSevenBit(text) ? text : guessCharset(Buffer.from(text, 'latin1'));
}

export function isSevenBit(text: string): boolean {
  return !/[\x80-\xff]/.test(text);
}

const decoders = new Map<string, TextDecoder>();

function decoderOf(label: string): TextDecoder | undefined {
  const known = decoders.get(label);
  if (known !== undefined) return known;
  try {
    const made = new TextDecoder(label);
    decoders.set(label, made); // bounded: TextDecoder accepts a closed list of labels
    return made;
  } catch {
    return undefined;
  }
}

// TextDecoder('windows-1252') decoded as ISO 8859-1 in some releases of Node 24, so the 27 characters that differ are listed here.
const HIGH =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function decodeWindows1252(buffer: Buffer): string {
  return buffer.toString('latin1').replace(/[\x80-\x9f]/g, (char) => HIGH[char.charCodeAt(0) - 0x80] ?? char);
}
