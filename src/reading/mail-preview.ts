import { decodeCharset, decodeTransfer } from '../../mail/message/decode.ts';
import { decodeWords } from '../../mail/message/encoded-word.ts';
import { firstField, readFields, unfold } from '../../mail/message/header.ts';
import { htmlText } from '../../mail/message/html-text.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import { SecretLinkForms, type SecretLinks } from '../../mail/message/secret-link.ts';
import { redacted } from '../../mail/agents/quarantine/redact.ts';
import type { ReadingContext } from './message-text.ts';
import type { MessagePreview } from '../core/text-tasks.ts';

/** Octets read, and characters of text shown. */
const MAX_OCTETS = 512 * 1024;
const MAX_TEXT_CHARS = 20_000;
const MAX_FIELD_CHARS = 2_000;
const MAX_ATTACHMENTS = 50;

/** Reads a preview of a stored message. For programs, a message with a secret link shows its header only. */
export async function readMailPreview(
  { store, texts }: ReadingContext,
  { blob, size, forProgram = false }: { blob: number; size: number; forProgram?: boolean },
): Promise<MessagePreview> {
  // Reads one more octet to detect truncation: the size in the row includes fields prepended to a forwarded copy.
  const octets = await store.blob(blob, 0, Math.min(size, MAX_OCTETS + 1));
  const read = await texts.read('mail', { octets, secretLinks: forProgram ? store.secretLinks?.links : undefined });
  return read ?? UNREADABLE;
}

const UNREADABLE: MessagePreview = {
  from: '',
  to: '',
  cc: '',
  subject: '',
  date: '',
  text: 'This message takes too long to read. Open it in a mail program.',
  truncated: true,
  answers: true,
  attachments: [],
  more: 0,
};

/** Parses the first octets of a message, plus one if there are more. `secretLinks` are hidden from programs. */
export function parseMailPreview(mail: { octets: Uint8Array; secretLinks: SecretLinks | undefined }): MessagePreview {
  const octets = Buffer.from(mail.octets.buffer, mail.octets.byteOffset, mail.octets.length);
  const first = octets.subarray(0, MAX_OCTETS);
  const shown = mail.secretLinks === undefined ? first : redactedForPrograms(first, mail.secretLinks);
  return previewOf(shown, octets.length > MAX_OCTETS);
}

function redactedForPrograms(octets: Buffer, secretLinks: SecretLinks): Buffer {
  const { secretLink, headerLength } = indexMessage(octets, new SecretLinkForms(secretLinks));
  return secretLink === true ? redacted(octets, 0, headerLength) : octets;
}

function previewOf(octets: Buffer, cut: boolean): MessagePreview {
  const index = indexMessage(octets);
  const fields = readFields(octets.subarray(0, index.headerLength).toString('latin1'), LIMITS.fields);
  const field = (name: string): string => shortenField(decodeWords(unfold(firstField(fields, name) ?? '')).trim());
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
    text: text.slice(0, MAX_TEXT_CHARS).toWellFormed(),
    truncated: cut || text.length > MAX_TEXT_CHARS,
    answers: ['in-reply-to', 'references'].some((name) => field(name) !== '') || parts.some(isMessage),
    attachments: attached
      .slice(0, MAX_ATTACHMENTS)
      .map(({ filename, type, subtype }) => ({ filename, contentType: `${type}/${subtype}` })),
    more: Math.max(0, attached.length - MAX_ATTACHMENTS),
  };
}

function isMessage({ type, subtype }: Part): boolean {
  return type === 'message' && (subtype === 'rfc822' || subtype === 'global');
}

/** Shortens a field and shows its full length, so that the approver knows that there is more. */
function shortenField(text: string): string {
  if (text.length <= MAX_FIELD_CHARS) return text;
  return `${text.slice(0, MAX_FIELD_CHARS).toWellFormed()} \u2026 (${text.length} characters)`;
}

/** Selects the plain text part, else the first text part. */
function textPart(parts: readonly Part[]): Part | undefined {
  const texts = parts.filter((one) => one.type === 'text' && one.disposition !== 'attachment');
  return texts.find((one) => one.subtype === 'plain') ?? texts[0];
}

function textOf(octets: Buffer, { bodyOffset, bodyLength, encoding, charset, subtype }: Part): string {
  const body = octets.subarray(bodyOffset, bodyOffset + bodyLength);
  const text = decodeCharset(decodeTransfer(body, encoding), charset);
  return (subtype === 'html' ? htmlText(text, MAX_TEXT_CHARS + 1) : text).replaceAll('\r\n', '\n');
}
