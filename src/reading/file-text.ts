import type { BodyPart } from '../../mail/jmap/email/body-part.ts';
import { textValue } from '../../mail/jmap/email/body-value.ts';
import { decodeTransfer } from '../../mail/message/decode.ts';
import { countLetters } from '../../mail/policy/letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type Removed } from '../untrusted/untrusted.ts';
import { isPdf, isText } from './file-kind.ts';
import { htmlReading } from './html-reading.ts';
import { LinkBook } from './link-book.ts';
import type { PdfReader } from './pdf/read-pdf.ts';
import { plainReading } from './plain-reading.ts';

/** Octets of a text. */
const MOST_TEXT = 1024 * 1024;

export interface FileText {
  text: string;
  removed: Removed;
  /** There is more than is read here. */
  cut: boolean;
}

/** What a file holds of text, its links as hosts; undefined: none that is read here. `octets` are as they were sent. */
export async function fileText(
  pdfs: PdfReader,
  octets: Buffer,
  body: BodyPart,
): Promise<FileText | 'later' | undefined> {
  if (isText(body)) return plainFile(octets, body);
  // What was cut off has no table of contents any more, which stands at its end.
  if (octets.length < body.part.bodyLength) return undefined;
  const decoded = decodeTransfer(octets, body.part.encoding);
  if (!isPdf(decoded)) return undefined;
  const said = await pdfs.read(decoded);
  if (said.kind === 'later') return 'later';
  if (said.kind !== 'read') return undefined;
  const { text, removed } = harmless(said.text);
  return { text, removed: { ...removed, hiddenChars: countLetters(said.hidden) }, cut: said.cut };
}

function plainFile(octets: Buffer, body: BodyPart): FileText {
  const charset = body.charset === 'us-ascii' || body.charset === null ? 'utf-8' : body.charset;
  const { value, isTruncated: cut } = textValue(octets, { ...body, charset }, MOST_TEXT);
  // Its links have no handles: those of the message are numbered already.
  if (body.type === 'text/html') return { ...htmlReading(value, 'text', new LinkBook(false)), cut };
  return { ...harmless(value), cut };
}

function harmless(value: string): { text: string; removed: Removed } {
  const { text, zeroWidth, tagChars } = visibleText(value);
  const safe = plainReading(text, new LinkBook(false));
  return { text: safe.text, removed: { ...NOTHING_REMOVED, zeroWidth, tagChars, images: safe.images } };
}
