import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { Base64Runs } from './base64-runs.ts';
import { decodeUtf7 } from './utf7.ts';

/** Undoes a Content-Transfer-Encoding. What is not understood comes back as it is; nothing throws. RFC 2045 6. */
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

/** Base64 as mailers write it: foreign characters are skipped and padding in the middle starts a new run. */
export function decodeBase64(buffer: Buffer): Buffer {
  const text = buffer.toString('latin1');
  const padding = text.indexOf('=');
  // Buffer stops at padding.
  if (padding < 0 || !/[^=\s]/.test(text.slice(padding))) return Buffer.from(text, 'base64');
  return new Base64Runs().push(buffer);
}

/** Quoted-printable with soft line ends, blanks before line ends dropped, broken escapes kept as they stand. */
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
    // RFC 2045 6.7 rule 3: blanks at the end of a line were added on the way.
    if (byte === 10 || byte === 13) length -= blanks;
    blanks = byte === 32 || byte === 9 ? blanks + 1 : 0;
    out[length++] = byte;
  }
  return out.subarray(0, length);
}

/** Octets of a soft line end after `=`, 0 when it is none. */
function softBreak(bytes: Buffer, from: number): number {
  let i = from;
  // Real mailers pad by a few blanks at most; the bound keeps a line of "= = = =" linear.
  while (i < from + 80 && (bytes[i] === 32 || bytes[i] === 9)) i++;
  if (i >= bytes.length) return Math.max(1, i - from);
  if (bytes[i] === 13 && bytes[i + 1] === 10) return i + 2 - from;
  return bytes[i] === 10 ? i + 1 - from : 0;
}

/** The value of a hexadecimal digit, or a number so negative that it stays negative in both places. */
function hex(byte: number | undefined): number {
  if (byte === undefined) return -256;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -256;
}

/** Names that mailers use and the WHATWG list of TextDecoder does not know. */
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

/** Charsets under which senders ship whatever their editor held. */
const GUESSED = new Set(['', 'us-ascii', 'ascii', 'ansi_x3.4-1968', 'unknown-8bit', 'x-unknown', 'unknown', '8bit']);

/** Turns octets of a named charset into text. An unknown name is guessed; bad sequences become U+FFFD; nothing throws. */
export function decodeCharset(bytes: Uint8Array, charset: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const name = charset.trim().toLowerCase();
  const label = ALIASES[name] ?? name;
  if (label === 'utf-8' || label === 'utf8') return buffer.toString('utf8');
  if (GUESSED.has(label)) return guessCharset(buffer);
  if (label === 'windows-1252') return decodeWindows1252(buffer);
  if (label === 'utf-7' || label === 'unicode-1-1-utf-7') return decodeUtf7(buffer.toString('latin1'));
  const decoder = decoderOf(label);
  return decoder === undefined ? guessCharset(buffer) : decoder.decode(buffer);
}

/** Whether text of that charset can be decoded without guessing what it is in. */
export function isKnownCharset(charset: string): boolean {
  const name = charset.trim().toLowerCase();
  const label = ALIASES[name] ?? name;
  return GUESSED.has(label) || label === 'utf-7' || label === 'unicode-1-1-utf-7' || decoderOf(label) !== undefined;
}

/** Decodes, and says whether something in it was broken or had to be guessed. RFC 8621 4.1.4. */
export function decodeDoubtful(bytes: Uint8Array, charset: string): { text: string; doubtful: boolean } {
  const name = charset.trim().toLowerCase();
  const text = decodeCharset(bytes, name);
  if (GUESSED.has(name)) return { text, doubtful: !isAscii(bytes) };
  if (name === 'utf-8' || name === 'utf8') return { text, doubtful: !isUtf8(bytes) };
  return { text, doubtful: !isKnownCharset(name) || text.includes('\ufffd') };
}

/** UTF-8 when it is valid UTF-8, else windows-1252: what text without a trustworthy charset turns out to be. */
function guessCharset(buffer: Buffer): string {
  if (isAscii(buffer)) return buffer.toString('latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : decodeWindows1252(buffer);
}

/** The same for header text that was read as latin1. */
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
    decoders.set(label, made); // the labels that TextDecoder accepts are a closed list, so this cannot grow without end
    return made;
  } catch {
    return undefined;
  }
}

// TextDecoder('windows-1252') has answered ISO 8859-1 in some releases of Node 24: the 27 that differ are said here.
const HIGH =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function decodeWindows1252(buffer: Buffer): string {
  return buffer.toString('latin1').replace(/[\x80-\x9f]/g, (char) => HIGH[char.charCodeAt(0) - 0x80] ?? char);
}
