import { sevenBitText } from './encoded-word.ts';
import { isSevenBit } from './decode.ts';

/** Old clients have short line buffers: what is longer goes as a literal. */
const QUOTED_MAX = 1000;
const SIMPLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * Writes header text that was read as latin1 as an IMAP string: quoted, or a literal when it is long. RFC 3501 4.3.
 * Always 7-bit, whatever comes in: 8-bit text is written in RFC 2047 and what no string may hold becomes a blank.
 */
export function imapString(text: string): string {
  if (text.length < QUOTED_MAX && SIMPLE.test(text)) return `"${text}"`;
  const clean = (isSevenBit(text) ? text : sevenBitText(text)).replace(/[\0\r\n]/g, ' ');
  return clean.length < QUOTED_MAX ? `"${clean.replace(/["\\]/g, '\\$&')}"` : `{${clean.length}}\r\n${clean}`;
}

export function nstring(text: string | undefined): string {
  return text === undefined ? 'NIL' : imapString(text);
}
