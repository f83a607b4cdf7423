import type { BodyPart } from '../../mail/jmap/email/body-part.ts';
import { encodedOctets, textValue } from '../../mail/jmap/email/body-value.ts';
import { decodeTransfer } from '../../mail/message/decode.ts';
import { countLetters } from '../../mail/policy/count-letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type RemovedContent } from '../untrusted/untrusted.ts';
import { renderHtml } from './render-html.ts';
import { LinkRegistry } from './link-registry.ts';
import { replaceLinks } from './replace-links.ts';
import type { DocumentReader, EncodedText, FileText, TextTaskRunner } from '../core/text-tasks.ts';

/** Octets read of a text file. */
const MAX_TEXT_OCTETS = 1024 * 1024;

/** Encoded octets that contain the PDF header. */
const MAGIC_OCTETS = 8 * 1024;

/** Extracts the text of an attachment, links as hosts; undefined: unsupported type. `octets` are still transfer-encoded. */
export async function fileText(
  { pdfs, texts }: { pdfs: DocumentReader; texts: TextTaskRunner },
  octets: Buffer,
  body: BodyPart,
): Promise<FileText | 'later' | undefined> {
  if (isText(body))
    return texts.read('file', { octets: octets.subarray(0, encodedOctets(MAX_TEXT_OCTETS, body.part)), body });
  // A truncated PDF has lost its cross-reference table, which is at the end.
  if (octets.length < body.part.bodyLength) return undefined;
  if (!isPdf(decodeTransfer(octets.subarray(0, MAGIC_OCTETS), body.part.encoding))) return undefined;
  const said = await pdfs.read(decodeTransfer(octets, body.part.encoding));
  if (said.kind === 'later') return 'later';
  if (said.kind !== 'read') return undefined;
  const read = await texts.read('document', { shown: said.text, hidden: said.hidden });
  return read && { ...read, cut: said.cut };
}

/** Reads a text file. Never throws. */
export function readFile({ octets, body }: EncodedText): FileText {
  const charset = body.charset === 'us-ascii' || body.charset === null ? 'utf-8' : body.charset;
  const { value, isTruncated: cut } = textValue(octets, { ...body, charset }, MAX_TEXT_OCTETS);
  // Links get no handles: those of the message are numbered already.
  if (body.type === 'text/html') return { ...renderHtml(value, 'text', new LinkRegistry(false)), cut };
  return { ...safeText(value), cut };
}

/** Sanitizes the visible text of a document and counts its hidden letters. */
export function readDocument({ shown, hidden }: { shown: string; hidden: string }): Omit<FileText, 'cut'> {
  const { text, removed } = safeText(shown);
  return { text, removed: { ...removed, hiddenChars: countLetters(hidden) } };
}

function safeText(value: string): { text: string; removed: RemovedContent } {
  const { text, zeroWidth, tagChars } = visibleText(value);
  const safe = replaceLinks(text, new LinkRegistry(false));
  return { text: safe.text, removed: { ...NOTHING_REMOVED, zeroWidth, tagChars, images: safe.images } };
}

const TEXTS = /^application\/(?:json|xml|ics|yaml|x-yaml|(?:[\w.-]{1,60}\+)(?:json|xml))$/;
const TEXT_NAMES = /\.(?:txt|csv|tsv|md|json|xml|ics|log|ya?ml)$/i;

/** True for a text file by its declared type; for application/octet-stream, by its file extension. */
function isText({ type, part }: BodyPart): boolean {
  if (part.type === 'text' || TEXTS.test(type)) return true;
  return type === 'application/octet-stream' && TEXT_NAMES.test(part.filename);
}

/** True for a PDF by its header; PDF readers accept it within the first 1024 octets. */
function isPdf(octets: Buffer): boolean {
  return octets.subarray(0, 1024).includes('%PDF-');
}

/** Detects the image type by its magic octets, whatever type is declared. */
export function imageType(octets: Buffer): string | undefined {
  const begins = (mark: string): boolean => octets.subarray(0, mark.length).equals(Buffer.from(mark, 'latin1'));
  if (begins('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begins('\xff\xd8\xff')) return 'image/jpeg';
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif';
  return begins('RIFF') && octets.subarray(8, 12).equals(Buffer.from('WEBP')) ? 'image/webp' : undefined;
}
