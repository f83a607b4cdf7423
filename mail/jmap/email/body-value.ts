import { decodeWithProblem, decodeTransfer } from '../../message/decode.ts';
import type { Part } from '../../message/parts.ts';
import { UNREADABLE_TEXT } from '../../store/blob/unreadable.ts';
import type { BodyPart } from './body-part.ts';
import type { MessageSource } from './message-source.ts';
import type { ReadBudget } from './header-values.ts';

/** Maximum octets of UTF-8 in one body value; clients download the part for more. */
export const MAX_VALUE_BYTES = 1024 * 1024;
/** Maximum octets of all body values of one message. */
export const MAX_VALUES_BYTES = 8 * 1024 * 1024;

/** EmailBodyValue of RFC 8621 4.1.4. */
export interface EmailBodyValue {
  value: string;
  isEncodingProblem: boolean;
  isTruncated: boolean;
}

const KNOWN_ENCODINGS = new Set(['7bit', '8bit', 'binary', 'base64', 'quoted-printable']);

/** Encoded octets to read for `limit` octets of text: quoted-printable needs three per octet, plus soft line breaks. */
export function encodedOctets(limit: number, { encoding }: Pick<Part, 'encoding'>): number {
  return (encoding === 'quoted-printable' ? 4 : 2) * limit + 8192;
}

/** Octets before the cut in which a line end is searched. */
const LINE_END_DISTANCE = 1000;

/** Reads body values by part id, each at most `limit` octets. */
export async function bodyValues(
  source: MessageSource,
  parts: Iterable<BodyPart>,
  limit: number,
  budget: ReadBudget,
): Promise<Record<string, EmailBodyValue>> {
  const values: Record<string, EmailBodyValue> = {};
  let left = MAX_VALUES_BYTES;
  for (const body of parts) {
    const most = Math.min(limit, MAX_VALUE_BYTES, left);
    const length = Math.min(body.part.bodyLength, encodedOctets(most, body.part));
    budget.take(length);
    const octets = await source.read(body.part.bodyOffset, length);
    const value = octets.length < length ? damagedValue(octets, body, most) : textValue(octets, body, most);
    left -= Buffer.byteLength(value.value);
    values[body.part.path] = value;
  }
  return values;
}

/** The readable beginning of a damaged text, and a sentence that says so. */
export function damagedValue(octets: Uint8Array, body: BodyPart, limit: number): EmailBodyValue {
  const { value } = textValue(octets, body, limit);
  const shown = value === '' ? UNREADABLE_TEXT : `${value}\n${UNREADABLE_TEXT}`;
  return { value: shown, isEncodingProblem: true, isTruncated: true };
}

/** Decodes a body value. `octets` are the first encoded octets of the part. */
export function textValue(octets: Uint8Array, { part, type, charset }: BodyPart, limit: number): EmailBodyValue {
  const cut = octets.length < part.bodyLength;
  const decoded = decodeTransfer(octets, part.encoding);
  const { text, doubtful } = decodeWithProblem(cut ? wholeLines(decoded) : decoded, charset ?? '');
  const readable = text.replaceAll('\r\n', '\n').replaceAll('\0', '\ufffd').toWellFormed();
  const value = cutText(readable, limit, type === 'text/html');
  return {
    value,
    isEncodingProblem: doubtful || !KNOWN_ENCODINGS.has(part.encoding),
    isTruncated: cut || value.length < readable.length,
  };
}

/** Cuts at a line end: elsewhere a cut could split a character or an escape sequence. */
function wholeLines(octets: Buffer): Buffer {
  const line = octets.lastIndexOf(10) + 1;
  if (line > Math.max(0, octets.length - LINE_END_DISTANCE)) return octets.subarray(0, line);
  return octets.subarray(0, characterEnd(octets, Math.max(0, octets.length - 16)));
}

/** The last UTF-8 character boundary at or before `most`. */
function characterEnd(octets: Buffer, most: number): number {
  let end = most;
  while (end > 0 && ((octets[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** Truncates to `limit` octets of UTF-8 at a character boundary, and in HTML outside a tag. */
function cutText(text: string, limit: number, html: boolean): string {
  // A UTF-16 unit is at most three octets: skips the count for short texts.
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const octets = Buffer.from(text);
  const cut = octets.toString('utf8', 0, characterEnd(octets, limit));
  if (!html) return cut;
  const open = cut.lastIndexOf('<');
  const inTag = open > cut.lastIndexOf('>') && /^<(?:[a-z/!?]|$)/i.test(cut.slice(open, open + 2));
  return inTag ? cut.slice(0, open) : cut;
}
