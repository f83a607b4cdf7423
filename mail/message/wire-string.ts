import { sevenBitText } from './encoded-word.ts';
import { isSevenBit } from './decode.ts';

/** Longer strings are sent as literals, as old clients have short line buffers. */
const QUOTED_MAX = 1000;
const SIMPLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * Formats latin1-read header text as an IMAP string: quoted, or a literal if long. RFC 3501 4.3. Always 7-bit: 8-bit text
 * is encoded by RFC 2047, and NUL, CR and LF become blanks.
 */
export function imapString(text: string): string {
  if (text.length < QUOTED_MAX && SIMPLE.test(text)) return `"${text}"`;
  const clean = (isSevenBit(text) ? text : sevenBitText(text)).replace(/[\0\r\n]/g, ' ');
  return clean.length < QUOTED_MAX ? `"${clean.replace(/["\\]/g, '\\$&')}"` : `{${clean.length}}\r\n${clean}`;
}

export function imapNstring(text: string | undefined): string {
  return text === undefined ? 'NIL' : imapString(text);
}
