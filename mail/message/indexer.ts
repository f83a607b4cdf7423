import { DecodedLength } from './decoded-length.ts';
import { envelopeFields, formatEnvelope } from './envelope.ts';
import { firstField, readFields, unfold, type Field } from './header.ts';
import { summarize, type TopHeader } from './index-summary.ts';
import type { MessageIndex } from './index-types.ts';
import { DELIMITER_MAX, LIMITS } from './limits.ts';
import { EncodedLinkReader, mayHoldNotice, SecretLinkScanner } from './secret-link-scanner.ts';
import { boundaryOf, headerSize, isOpenMessage, readPartHeader } from './part-header.ts';
import { PartTree, type LeafReader, type PartNode } from './part-tree.ts';
import { type SecretLinkForms, withoutLinks } from './secret-link.ts';
import { isPreviewed, TextCapture } from './text-capture.ts';

const LF = 10;
const CR = 13;
const DASH = 45;
const NOTHING = Buffer.alloc(0);

/** Indexes a message that is in memory. */
export function indexMessage(bytes: Uint8Array, links?: SecretLinkForms): MessageIndex {
  const indexer = new MessageIndexer(links);
  indexer.push(bytes);
  return indexer.end();
}

/**
 * Indexes a streamed message: chunks of any size, then {@link end}. One pass; keeps in memory one header block, the
 * structure, and the start of the first text part. Never throws on message content. Lines end in CRLF or LF.
 */
export class MessageIndexer {
  readonly #tree = new PartTree();
  readonly #preview = { plain: '', html: '' };
  /** Readers of the open leaf. */
  #readers: LeafReader[] = [];
  readonly #links: SecretLinkScanner | undefined;
  readonly #budget = { left: LIMITS.addresses };
  /** Octets of all previous chunks: added to an index it gives an offset. */
  #offset = 0;
  #lineEnds = 0;
  /** Offset of the current line; below #offset if it began in an earlier chunk: its beginning is then in #carry. */
  #lineStart = 0;
  #carry = '';
  /** The line end before the current line is CRLF, if it is in an earlier chunk. */
  #crBeforeLine = false;
  #lastByte = 0;
  #inHeader = true;
  /** Beginning of the current header from earlier chunks. */
  #kept = '';
  #top: TopHeader | undefined;
  /** Characters of BODYSTRUCTURE for the parts so far. */
  #structure = 0;

  /** `links`: secret links to search for; required for messages stored under an account. */
  constructor(links?: SecretLinkForms) {
    this.#links = links && new SecretLinkScanner(links);
    this.#tree.begin(0);
  }

  /** The chunk is not retained: the caller may reuse it. */
  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#links?.push(bytes);
    for (let at = 0; at < bytes.length;) {
      if (this.#inHeader) at = this.#readHeader(bytes, at);
      else at = this.#tree.boundaries.size > 0 ? this.#readBody(bytes, at) : this.#readRest(bytes, at);
    }
    if (bytes.length > 0) this.#endChunk(bytes);
  }

  end(): MessageIndex {
    const size = this.#offset;
    if (this.#tree.boundaries.size > 0) this.#endLastLine();
    while (this.#inHeader) this.#endHeader(NOTHING, size);
    for (const reader of this.#readers) reader.finish(NOTHING, size, size);
    this.#tree.closeInside(-1, size, this.#lineEnds);
    const top = this.#top ?? { fields: envelopeFields([], this.#budget), references: undefined, received: 0 };
    if (this.#budget.left < 0) this.#tree.flattened = true;
    const index = summarize(this.#tree, top, size, this.#preview.plain || this.#preview.html);
    return this.#links?.end() === true ? { ...index, preview: withoutLinks(index.preview), secretLink: true } : index;
  }

  /** Processes a last line without a line end: it may be the closing delimiter. RFC 2046 5.1.1. */
  #endLastLine(): void {
    const start = this.#lineStart - this.#offset;
    if (start >= 0) return;
    // A delimiter's own line end is counted before the parts before it are ended.
    this.#lineEnds++;
    this.#delimiter(NOTHING, start, 0);
    this.#lineEnds--;
  }

  /** Reads until the header or the chunk ends; returns the index. */
  #readHeader(bytes: Buffer, at: number): number {
    for (let lf = bytes.indexOf(LF, at); lf >= 0; lf = bytes.indexOf(LF, lf + 1)) {
      const start = this.#lineStart - this.#offset;
      this.#lineEnds++;
      const before = lf > 0 ? bytes[lf - 1] : this.#lastByte;
      if (lf === start || (lf === start + 1 && before === CR)) {
        this.#nextLine(lf + 1);
        this.#endHeader(bytes, this.#lineStart);
        return lf + 1;
      }
      if (this.#tree.boundaries.size > 0 && this.#delimiter(bytes, start, lf)) return lf + 1;
      this.#nextLine(lf + 1);
    }
    return bytes.length;
  }

  /** Reads a multipart body, in which every line may be a delimiter. */
  #readBody(bytes: Buffer, at: number): number {
    let start = this.#lineStart - this.#offset;
    let lineEnds = this.#lineEnds;
    for (let i = at; i < bytes.length; i++) {
      if (bytes[i] !== LF) continue;
      lineEnds++;
      if (start < 0 || (bytes[start] === DASH && bytes[start + 1] === DASH)) {
        this.#lineEnds = lineEnds;
        this.#lineStart = this.#offset + start;
        if (this.#delimiter(bytes, start, i)) return i + 1;
      }
      start = i + 1;
    }
    this.#lineEnds = lineEnds;
    if (this.#offset + start !== this.#lineStart) this.#nextLine(start);
    return bytes.length;
  }

  /** Reads the rest of a part that no boundary can end: only counts lines. */
  #readRest(bytes: Buffer, at: number): number {
    let lineEnds = 0;
    for (let i = at; i < bytes.length; i++) if (bytes[i] === LF) lineEnds++;
    this.#lineEnds += lineEnds;
    return bytes.length;
  }

  #nextLine(index: number): void {
    this.#lineStart = this.#offset + index;
    this.#carry = '';
  }

  /** Processes the line that ends at `lf`; true if it was a delimiter of an open multipart. */
  #delimiter(bytes: Buffer, start: number, lf: number): boolean {
    if (lf - start > DELIMITER_MAX) return false;
    if (start >= 0 && (bytes[start] !== DASH || bytes[start + 1] !== DASH)) return false;
    const line = start < 0 ? this.#carry + bytes.toString('latin1', 0, lf) : bytes.toString('latin1', start, lf);
    if (!line.startsWith('--')) return false;
    // Compares whole lines without padding: one boundary may be a prefix of another.
    const text = line.slice(2).trimEnd();
    const index = this.#tree.boundaries.get(text);
    if (index !== undefined) this.#cut(bytes, start, index, lf + 1, false);
    else {
      const closing = text.endsWith('--') ? this.#tree.boundaries.get(text.slice(0, -2).trimEnd()) : undefined;
      if (closing === undefined) return false;
      this.#cut(bytes, start, closing, lf + 1, true);
    }
    return true;
  }

  /** Ends the parts before the delimiter line at `start`, and begins the next. RFC 2046 5.1.1. */
  #cut(bytes: Buffer, start: number, index: number, next: number, closing: boolean): void {
    const delimiter = this.#offset + start;
    while (this.#inHeader) this.#endHeader(bytes, delimiter);
    // A limit may have been exceeded in endHeader.
    if (this.#tree.boundaries.size > 0) {
      // The line end before a delimiter belongs to it: it is neither in the body nor in its line count.
      const end = delimiter - (this.#crBefore(bytes, start) ? 2 : 1);
      for (const reader of this.#readers) reader.finish(bytes, this.#offset, end);
      this.#readers = [];
      this.#tree.closeInside(index, end, this.#lineEnds - 2);
      if (closing) this.#tree.unwatch(index);
      else if (this.#tree.hasRoom()) this.#begin(this.#offset + next);
      else this.#tree.dropRest(index);
    }
    this.#nextLine(next);
  }

  #crBefore(bytes: Buffer, start: number): boolean {
    if (start <= 0) return this.#crBeforeLine;
    return (start === 1 ? this.#lastByte : bytes[start - 2]) === CR;
  }

  #begin(offset: number): void {
    this.#tree.begin(offset);
    this.#inHeader = true;
    this.#kept = '';
  }

  #flatten(): void {
    this.#tree.flatten();
    this.#readers = [];
    this.#inHeader = false;
  }

  /** Ends the header of the innermost part, at an empty line, a delimiter or the end of the message. */
  #endHeader(bytes: Buffer, end: number): void {
    const node = this.#tree.top;
    const text = this.#headerText(bytes, node.headerStart, end);
    const fields = readFields(text.slice(0, LIMITS.header), LIMITS.fields + 1);
    for (const field of fields) {
      if (field.value.length <= LIMITS.field) continue;
      field.value = field.value.slice(0, LIMITS.field);
      this.#tree.flattened = true;
    }
    const multipart = node.parent?.header.type === 'multipart';
    node.bodyStart = end;
    node.lines = this.#lineEnds;
    node.header = readPartHeader(
      fields,
      multipart && node.parent?.header.subtype === 'digest' ? 'message/rfc822' : 'text/plain',
    );
    this.#inHeader = false;
    this.#kept = '';
    if (!multipart) this.#readEnvelope(node, fields);
    this.#structure += node.parent === undefined ? 0 : node.envelope.length + headerSize(node.header);
    const over = text.length > LIMITS.header || fields.length > LIMITS.fields || this.#structure > LIMITS.structure;
    if (over) this.#flatten();
    else this.#open(node);
  }

  #headerText(bytes: Buffer, start: number, end: number): string {
    const most = LIMITS.header + 1;
    if (start >= this.#offset) {
      const from = start - this.#offset;
      return bytes.toString('latin1', from, Math.min(end - this.#offset, from + most));
    }
    // The delimiter that ended the header may have begun in the previous chunk.
    if (end <= this.#offset) return this.#kept.slice(0, end - start);
    return this.#kept + bytes.toString('latin1', 0, Math.min(end - this.#offset, most));
  }

  #readEnvelope(node: PartNode, fields: Field[]): void {
    const envelope = envelopeFields(fields, this.#budget);
    node.envelope = formatEnvelope(envelope);
    if (node.parent !== undefined) return;
    const references = firstField(fields, 'references');
    let received = 0;
    for (const { name } of fields) if (name === 'received') received++;
    this.#top = { fields: envelope, references: references && unfold(references), received };
  }

  /** Starts the body of a part according to its header. */
  #open(node: PartNode): void {
    const boundary = boundaryOf(node.header);
    if (boundary === undefined && !isOpenMessage(node.header)) this.#readLeaf(node);
    else if (this.#tree.isTooDeep() || !this.#tree.hasRoom()) this.#tree.flattened = true;
    else if ((boundary?.length ?? 0) > LIMITS.boundary) this.#flatten();
    else if (boundary === undefined) this.#begin(node.bodyStart);
    else this.#tree.watch(boundary);
  }

  #readLeaf(node: PartNode): void {
    this.#readers = [];
    if (isPreviewed(node.header, this.#preview)) this.#readers.push(new TextCapture(node, this.#preview));
    const { encoding } = node.header;
    if (encoding === 'base64' || encoding === 'quoted-printable') this.#readers.push(new DecodedLength(node));
    if (encoding === 'base64' && this.#links !== undefined && mayHoldNotice(node.header)) {
      this.#readers.push(new EncodedLinkReader(node, this.#links));
    }
  }

  #endChunk(bytes: Buffer): void {
    const start = this.#lineStart - this.#offset;
    this.#crBeforeLine = this.#crBefore(bytes, start);
    if (this.#carry.length <= DELIMITER_MAX) {
      this.#carry += bytes.toString('latin1', Math.max(0, start), Math.max(0, start) + DELIMITER_MAX);
    }
    if (this.#inHeader && this.#kept.length <= LIMITS.header) {
      const from = Math.max(0, this.#tree.top.headerStart - this.#offset);
      this.#kept += bytes.toString('latin1', from, from + LIMITS.header + 1);
    }
    for (const reader of this.#readers) reader.keep(bytes, this.#offset);
    this.#lastByte = bytes[bytes.length - 1] ?? 0;
    this.#offset += bytes.length;
  }
}
