import type { BodyPart } from '../../mail/jmap/email/body-part.ts';
import { encodedOctets, textValue } from '../../mail/jmap/email/body-value.ts';
import { decodeTransfer } from '../../mail/message/decode.ts';
import { countLetters } from '../../mail/policy/letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type Removed } from '../untrusted/untrusted.ts';
import { isPdf, isText } from './file-kind.ts';
import type { TextReader } from './apart/text-reader.ts';
import type { Encoded } from './encoded.ts';
import { htmlReading } from './html-reading.ts';
import { LinkBook } from './link-book.ts';
import type { PdfReader } from './pdf/read-pdf.ts';
import { plainReading } from './plain-reading.ts';

/** Octets of a text. */
const MOST_TEXT = 1024 * 1024;

/** Encoded octets that hold those by which a document is known. */
const BEGINNING = 8 * 1024;

export interface FileText {
  text: string;
  removed: Removed;
  /** There is more than is read here. */
  cut: boolean;
}

/** What a file holds of text, its links as hosts; undefined: none that is read here. `octets` are as they were sent. */
export async function fileText(
  { pdfs, texts }: { pdfs: PdfReader; texts: TextReader },
  octets: Buffer,
  body: BodyPart,
): Promise<FileText | 'later' | undefined> {
  if (isText(body))
    return texts.read('file', { octets: octets.subarray(0, encodedOctets(MOST_TEXT, body.part)), body });
  // What was cut off has no table of contents any more, which stands at its end.
  if (octets.length < body.part.bodyLength) return undefined;
  if (!isPdf(decodeTransfer(octets.subarray(0, BEGINNING), body.part.encoding))) return undefined;
  const said = await pdfs.read(decodeTransfer(octets, body.part.encoding));
  if (said.kind === 'later') return 'later';
  if (said.kind !== 'read') return undefined;
  const read = await texts.read('document', { shown: said.text, hidden: said.hidden });
  return read && { ...read, cut: said.cut };
}

/** The text of a file that is one. Nothing throws. */
export function readFile({ octets, body }: Encoded): FileText {
  const charset = body.charset === 'us-ascii' || body.charset === null ? 'utf-8' : body.charset;
  const { value, isTruncated: cut } = textValue(octets, { ...body, charset }, MOST_TEXT);
  // Its links have no handles: those of the message are numbered already.
  if (body.type === 'text/html') return { ...htmlReading(value, 'text', new LinkBook(false)), cut };
  return { ...harmless(value), cut };
}

/** The text that a document shows, and how much it hides. */
export function readDocument({ shown, hidden }: { shown: string; hidden: string }): Omit<FileText, 'cut'> {
  const { text, removed } = harmless(shown);
  return { text, removed: { ...removed, hiddenChars: countLetters(hidden) } };
}

function harmless(value: string): { text: string; removed: Removed } {
  const { text, zeroWidth, tagChars } = visibleText(value);
  const safe = plainReading(text, new LinkBook(false));
  return { text: safe.text, removed: { ...NOTHING_REMOVED, zeroWidth, tagChars, images: safe.images } };
}
