import { decodeDoubtful, decodeTransfer } from '../../message/decode.ts';
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

/** Encoded octets that hold `limit` octets of text: quoted-printable takes three for one. */
const sourceOf = (limit: number): number => 4 * limit + 1024;

/** Characters that a cut through encoded octets may have spoiled. */
const TAIL = 8;

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
    const length = Math.min(body.part.bodyLength, sourceOf(most));
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
  const { text, doubtful } = decodeDoubtful(decodeTransfer(octets, part.encoding), charset ?? '');
  const whole = cut ? text.slice(0, -TAIL) : text;
  const readable = whole.replaceAll('\r\n', '\n').replaceAll('\0', '\ufffd').toWellFormed();
  const value = cutText(readable, limit, type === 'text/html');
  return {
    value,
    isEncodingProblem: (cut ? isDoubtful(whole, doubtful) : doubtful) || !KNOWN_ENCODINGS.has(part.encoding),
    isTruncated: cut || value.length < readable.length,
  };
}

/** The cut itself breaks a character; that is no fault of the message. */
function isDoubtful(text: string, doubtful: boolean): boolean {
  return doubtful && text.includes('\ufffd');
}

/** At most `limit` octets of UTF-8, whole characters, and of HTML whole tags. */
function cutText(text: string, limit: number, html: boolean): string {
  // No text has fewer octets than half its UTF-16 units would need in ASCII; most are short.
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const octets = Buffer.from(text);
  let end = limit;
  while (end > 0 && ((octets[end] ?? 0) & 0xc0) === 0x80) end--;
  const cut = octets.toString('utf8', 0, end);
  if (!html) return cut;
  const open = cut.lastIndexOf('<');
  const inTag = open > cut.lastIndexOf('>') && /^<(?:[a-z/!?]|$)/i.test(cut.slice(open, open + 2));
  return inTag ? cut.slice(0, open) : cut;
}
