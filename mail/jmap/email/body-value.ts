import { decodeDoubtful, decodeTransfer } from '../../message/decode.ts';
import type { Part } from '../../message/parts.ts';
import type { BodyPart } from './body-part.ts';
import type { MessageSource } from './message-source.ts';
import type { ReadBudget } from './read-budget.ts';

/** The longest text that is answered as a value, in octets of UTF-8; who wants more downloads the part. */
export const MOST_VALUE = 1024 * 1024;
/** The same for all values of one message. */
export const MOST_VALUES = 8 * 1024 * 1024;

/** EmailBodyValue of RFC 8621 4.1.4. */
export interface EmailBodyValue {
  value: string;
  isEncodingProblem: boolean;
  isTruncated: boolean;
}

const KNOWN_ENCODINGS = new Set(['7bit', '8bit', 'binary', 'base64', 'quoted-printable']);

/** Encoded octets that hold `limit` octets of text: quoted-printable takes three for one, and some are thrown away. */
export function encodedOctets(limit: number, { encoding }: Pick<Part, 'encoding'>): number {
  return (encoding === 'quoted-printable' ? 4 : 2) * limit + 8192;
}

/** Where a text had to be cut, it is looked for a line end within so many octets. */
const NEAR = 1000;

/** The values of some text parts by their ids, each at most `limit` octets long. */
export async function bodyValues(
  source: MessageSource,
  parts: Iterable<BodyPart>,
  limit: number,
  budget: ReadBudget,
): Promise<Record<string, EmailBodyValue>> {
  const values: Record<string, EmailBodyValue> = {};
  let left = MOST_VALUES;
  for (const body of parts) {
    const most = Math.min(limit, MOST_VALUE, left);
    const length = Math.min(body.part.bodyLength, encodedOctets(most, body.part));
    budget.take(length);
    const value = textValue(await source.read(body.part.bodyOffset, length), body, most);
    left -= Buffer.byteLength(value.value);
    values[body.part.path] = value;
  }
  return values;
}

/** `octets` are the first of the part, as they are encoded. */
export function textValue(octets: Uint8Array, { part, type, charset }: BodyPart, limit: number): EmailBodyValue {
  const cut = octets.length < part.bodyLength;
  const decoded = decodeTransfer(octets, part.encoding);
  const { text, doubtful } = decodeDoubtful(cut ? wholeLines(decoded) : decoded, charset ?? '');
  const readable = text.replaceAll('\r\n', '\n').replaceAll('\0', '\ufffd').toWellFormed();
  const value = cutText(readable, limit, type === 'text/html');
  return {
    value,
    isEncodingProblem: doubtful || !KNOWN_ENCODINGS.has(part.encoding),
    isTruncated: cut || value.length < readable.length,
  };
}

/** A cut breaks characters and escapes; at a line end every charset has said what it began. */
function wholeLines(octets: Buffer): Buffer {
  const line = octets.lastIndexOf(10) + 1;
  if (line > Math.max(0, octets.length - NEAR)) return octets.subarray(0, line);
  return octets.subarray(0, characterEnd(octets, Math.max(0, octets.length - 16)));
}

/** Not after `most`, and not inside of a character of UTF-8. */
function characterEnd(octets: Buffer, most: number): number {
  let end = most;
  while (end > 0 && ((octets[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** At most `limit` octets of UTF-8, whole characters, and of HTML whole tags. */
function cutText(text: string, limit: number, html: boolean): string {
  // A UTF-16 unit is three octets at most; most texts are short.
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const octets = Buffer.from(text);
  const cut = octets.toString('utf8', 0, characterEnd(octets, limit));
  if (!html) return cut;
  const open = cut.lastIndexOf('<');
  const inTag = open > cut.lastIndexOf('>') && /^<(?:[a-z/!?]|$)/i.test(cut.slice(open, open + 2));
  return inTag ? cut.slice(0, open) : cut;
}
