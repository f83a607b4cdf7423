import { decodeCharset, decodeTransfer } from '../../mail/message/decode.ts';
import { decodeWords } from '../../mail/message/encoded-word.ts';
import { firstField, readFields, unfold } from '../../mail/message/header.ts';
import { htmlText } from '../../mail/message/html-text.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Octets that are looked at, and characters of text that are shown. */
const MOST_OCTETS = 512 * 1024;
const MOST_TEXT = 20_000;

/** The beginning of a message that leaves, as text, for people who have to decide about it. */
export interface Beginning {
  from: string;
  to: string;
  cc: string;
  subject: string;
  date: string;
  text: string;
  truncated: boolean;
  attachments: { filename: string; contentType: string }[];
}

/** Of a blob of so many octets. */
export async function beginningOf(
  store: MailStore,
  { blob, size }: { blob: number; size: number },
): Promise<Beginning> {
  // One more says whether there are more: the size of a row counts what is put in front of a forwarded copy.
  const octets = await store.blob(blob, 0, Math.min(size, MOST_OCTETS + 1));
  return messageOf(octets.subarray(0, MOST_OCTETS), octets.length > MOST_OCTETS);
}

function messageOf(octets: Buffer, cut: boolean): Beginning {
  const index = indexMessage(octets);
  const fields = readFields(octets.subarray(0, index.headerLength).toString('latin1'), LIMITS.fields);
  const field = (name: string): string =>
    decodeWords(unfold(firstField(fields, name) ?? ''))
      .trim()
      .slice(0, 2_000);
  const parts = unpackParts(index.parts);
  const shown = textPart(parts);
  const text = shown === undefined ? '' : textOf(octets, shown);
  return {
    from: field('from'),
    to: field('to'),
    cc: field('cc'),
    subject: field('subject'),
    date: field('date'),
    text: text.slice(0, MOST_TEXT).toWellFormed(),
    truncated: cut || text.length > MOST_TEXT,
    attachments: parts
      .filter((part) => part !== shown && part.filename !== '')
      .slice(0, 50)
      .map(({ filename, type, subtype }) => ({ filename, contentType: `${type}/${subtype}` })),
  };
}

/** What a person reads first: plain text where there is any. */
function textPart(parts: readonly Part[]): Part | undefined {
  const texts = parts.filter((one) => one.type === 'text' && one.disposition !== 'attachment');
  return texts.find((one) => one.subtype === 'plain') ?? texts[0];
}

function textOf(octets: Buffer, { bodyOffset, bodyLength, encoding, charset, subtype }: Part): string {
  const body = octets.subarray(bodyOffset, bodyOffset + bodyLength);
  const text = decodeCharset(decodeTransfer(body, encoding), charset);
  return (subtype === 'html' ? htmlText(text, MOST_TEXT + 1) : text).replaceAll('\r\n', '\n');
}
