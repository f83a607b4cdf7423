import { decodeCharset, decodeTransfer } from '../../mail/message/decode.ts';
import { decodeWords } from '../../mail/message/encoded-word.ts';
import { firstField, readFields, unfold } from '../../mail/message/header.ts';
import { htmlText } from '../../mail/message/html-text.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import { SecretLinkForms, type SecretLinks } from '../../mail/message/secret-link.ts';
import { veiled } from '../../mail/store/veil.ts';
import type { Library } from './message-text.ts';

/** Octets that are looked at, and characters of text that are shown. */
const MOST_OCTETS = 512 * 1024;
const MOST_TEXT = 20_000;
const MOST_FIELD = 2_000;
const MOST_ATTACHMENTS = 50;

/** The beginning of a message that leaves, as text, for people who have to decide about it. */
export interface Beginning {
  from: string;
  to: string;
  cc: string;
  subject: string;
  date: string;
  text: string;
  truncated: boolean;
  /** It answers another message, or holds one: it may quote whoever wrote that. */
  answers: boolean;
  attachments: { filename: string; contentType: string }[];
  /** Attachments that are not named. */
  more: number;
}

/** Of a blob of so many octets. Of a letter that acts for a person a program is shown the header only. */
export async function beginningOf(
  { store, texts }: Library,
  { blob, size, forProgram = false }: { blob: number; size: number; forProgram?: boolean },
): Promise<Beginning> {
  // One more says whether there are more: the size of a row counts what is put in front of a forwarded copy.
  const octets = await store.blob(blob, 0, Math.min(size, MOST_OCTETS + 1));
  const read = await texts.read('mail', { octets, secretLinks: forProgram ? store.secretLinks?.links : undefined });
  return read ?? UNREAD;
}

const UNREAD: Beginning = {
  from: '',
  to: '',
  cc: '',
  subject: '',
  date: '',
  text: 'This mail takes longer to be read than reading may take here: look at it in a mail program.',
  truncated: true,
  answers: true,
  attachments: [],
  more: 0,
};

/** The first octets of a mail, and one more where it goes on; `secretLinks`: those that a program is not shown. */
export function readMail(mail: { octets: Uint8Array; secretLinks: SecretLinks | undefined }): Beginning {
  const octets = Buffer.from(mail.octets.buffer, mail.octets.byteOffset, mail.octets.length);
  const first = octets.subarray(0, MOST_OCTETS);
  const shown = mail.secretLinks === undefined ? first : asProgramsSee(first, mail.secretLinks);
  return messageOf(shown, octets.length > MOST_OCTETS);
}

function asProgramsSee(octets: Buffer, secretLinks: SecretLinks): Buffer {
  const { secretLink, headerLength } = indexMessage(octets, new SecretLinkForms(secretLinks));
  return secretLink === true ? veiled(octets, 0, headerLength) : octets;
}

function messageOf(octets: Buffer, cut: boolean): Beginning {
  const index = indexMessage(octets);
  const fields = readFields(octets.subarray(0, index.headerLength).toString('latin1'), LIMITS.fields);
  const field = (name: string): string => cutField(decodeWords(unfold(firstField(fields, name) ?? '')).trim());
  const parts = unpackParts(index.parts);
  const shown = textPart(parts);
  const text = shown === undefined ? '' : textOf(octets, shown);
  const attached = parts.filter((part) => part !== shown && part.filename !== '');
  return {
    from: field('from'),
    to: field('to'),
    cc: field('cc'),
    subject: field('subject'),
    date: field('date'),
    text: text.slice(0, MOST_TEXT).toWellFormed(),
    truncated: cut || text.length > MOST_TEXT,
    answers: ['in-reply-to', 'references'].some((name) => field(name) !== '') || parts.some(isMessage),
    attachments: attached
      .slice(0, MOST_ATTACHMENTS)
      .map(({ filename, type, subtype }) => ({ filename, contentType: `${type}/${subtype}` })),
    more: Math.max(0, attached.length - MOST_ATTACHMENTS),
  };
}

function isMessage({ type, subtype }: Part): boolean {
  return type === 'message' && (subtype === 'rfc822' || subtype === 'global');
}

/** Who decides is told that there is more. */
function cutField(text: string): string {
  if (text.length <= MOST_FIELD) return text;
  return `${text.slice(0, MOST_FIELD).toWellFormed()} \u2026 (${text.length} characters)`;
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
