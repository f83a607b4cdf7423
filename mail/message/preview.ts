import { decodeCharset, decodeTransfer } from './decode.ts';
import { htmlText } from './html-text.ts';

/** Characters of a preview. RFC 8970 3.1, RFC 8621 4.1.4. */
const PREVIEW_MAX = 256;

// Bidi controls and zero-width characters falsify the displayed text; tag characters hide text.
const HIDDEN =
  /\u{34f}|[\u{ad}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Properties for decoding a text part. */
export interface TextPart {
  subtype: string;
  charset: string;
  encoding: string;
}

/** Builds the preview of a text part. `octets` may be truncated anywhere. */
export function previewOf(octets: Buffer, part: TextPart): string {
  // The first kilobyte suffices for most plain text; HTML begins with styles.
  const first = part.subtype === 'html' ? octets : octets.subarray(0, 1024);
  const preview = readable(first, part);
  return preview.length >= PREVIEW_MAX - 8 || first.length === octets.length ? preview : readable(octets, part);
}

function readable(octets: Buffer, part: TextPart): string {
  const decoded = decodeCharset(decodeTransfer(octets, part.encoding), part.charset);
  return previewText(part.subtype === 'html' ? htmlText(decoded, 2 * PREVIEW_MAX) : decoded);
}

/** Reduces a text to one visible line of at most 256 characters. */
export function previewText(text: string): string {
  if (/^[\t\r\n\x20-\x7e]*$/.test(text)) return cut(firstWords(text));
  const visible = text.toWellFormed().replace(HIDDEN, '');
  // Collapses blanks and C0 and C1 controls.
  return cut(visible.replace(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ').trim());
}

const BLANK = 32;

/** Joins the words of ASCII text until they fill a preview. Replacing blanks in all of it costs ten times as much. */
function firstWords(text: string): string {
  let line = '';
  for (let at = 0; at < text.length && line.length <= PREVIEW_MAX;) {
    while (text.charCodeAt(at) <= BLANK) at++;
    const start = at;
    while (text.charCodeAt(at) > BLANK) at++;
    if (at > start) line += `${line === '' ? '' : ' '}${text.slice(start, at)}`;
  }
  return line;
}

function cut(line: string): string {
  if (line.length <= PREVIEW_MAX) return line;
  const last = line.charCodeAt(PREVIEW_MAX - 1);
  return line.slice(0, last >= 0xd800 && last <= 0xdbff ? PREVIEW_MAX - 1 : PREVIEW_MAX).trimEnd();
}
