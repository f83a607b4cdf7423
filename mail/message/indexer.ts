import { DecodedLength } from './decoded-length.ts';
import { envelopeFields, formatEnvelope } from './envelope.ts';
import { firstField, readFields, unfold, type Field } from './header.ts';
import { summarize, type TopHeader } from './index-summary.ts';
import type { MessageIndex } from './index-types.ts';
import { DELIMITER_MAX, LIMITS } from './limits.ts';
import { LinkWatch } from './link-watch.ts';
import { boundaryOf, headerSize, isOpenMessage, readPartHeader } from './part-header.ts';
import { PartTree, type PartNode } from './part-tree.ts';
import { type SecretLinkForms, withoutLinks } from './secret-link.ts';
import { TextCapture } from './text-capture.ts';

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
 * Indexes a message as it streams by: chunks of any size, cut anywhere, and then {@link end}. One pass; what is kept is
 * one header block, the structure, and the start of the first text part. Nothing throws on what a message contains.
 * Lines end in CRLF or LF.
 */
export class MessageIndexer {
  readonly #tree = new PartTree();
  readonly #capture = new TextCapture();
  readonly #decoded = new DecodedLength();
  readonly #links: LinkWatch | undefined;
  readonly #budget = { left: LIMITS.addresses };
  /** Octets of all chunks before the current one: what turns an index into an offset. */
  #offset = 0;
  #lineEnds = 0;
  /** Offset of the current line; before #offset when an earlier chunk began it, its head is then in #carry. */
  #lineStart = 0;
  #carry = '';
  /** The octet before the line feed before the current line, when both are in an earlier chunk. */
  #crBeforeLine = false;
  #lastByte = 0;
  #inHeader = true;
  /** What earlier chunks had of the header that is being read. */
  #kept = '';
  #top: TopHeader | undefined;
  /** Characters that the parts so far need in the structure. */
  #structure = 0;

  /** `links`: what is looked for while it passes; a message that gets a row under an account is to be looked through. */
  constructor(links?: SecretLinkForms) {
    this.#links = links && new LinkWatch(links);
    this.#tree.begin(0);
  }

  /** The chunk is not kept: it may be used again by the caller. */
  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#links?.push(bytes);
    for (let at = 0; at < bytes.length;) at = this.#step(bytes, at);
    if (bytes.length > 0) this.#endChunk(bytes);
  }

  end(): MessageIndex {
    const size = this.#offset;
    while (this.#inHeader) this.#endHeader(NOTHING, size);
    this.#capture.finish(NOTHING, size, size);
    this.#decoded.finish(NOTHING, size, size);
    this.#links?.finish(NOTHING, size, size);
    this.#tree.closeAll(size, this.#lineEnds);
    const top = this.#top ?? { fields: envelopeFields([], this.#budget), references: undefined, received: 0 };
    if (this.#budget.left < 0) this.#tree.flattened = true;
    const index = summarize(this.#tree, top, size, this.#capture.preview);
    return this.#links?.end() === true ? { ...index, preview: withoutLinks(index.preview), secretLink: true } : index;
  }

  /** Reads on until the mode changes or the chunk ends; answers where. */
  #step(bytes: Buffer, at: number): number {
    if (this.#inHeader) return this.#readHeader(bytes, at);
    return this.#tree.boundaries.size > 0 ? this.#readBody(bytes, at) : this.#readRest(bytes, at);
  }

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

  /** Inside a multipart every line may be a delimiter. */
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

  /** No boundary can end this part any more: only lines are counted. */
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

  /** True when the line that ends at `lf` was a delimiter of an open multipart, and has been acted on. */
  #delimiter(bytes: Buffer, start: number, lf: number): boolean {
    if (lf - start > DELIMITER_MAX) return false;
    if (start >= 0 && (bytes[start] !== DASH || bytes[start + 1] !== DASH)) return false;
    const line = start < 0 ? this.#carry + bytes.toString('latin1', 0, lf) : bytes.toString('latin1', start, lf);
    if (!line.startsWith('--')) return false;
    // Only the whole line counts, padding aside: one boundary may be the beginning of another.
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

  /** Ends what the delimiter line at `start` ends, and begins what is behind it. RFC 2046 5.1.1. */
  #cut(bytes: Buffer, start: number, index: number, next: number, closing: boolean): void {
    const delimiter = this.#offset + start;
    while (this.#inHeader) this.#endHeader(bytes, delimiter);
    // A limit may have been passed just now.
    if (this.#tree.boundaries.size > 0) {
      // The line end before a delimiter belongs to it; so it is neither in the body nor in its count of lines.
      const end = delimiter - (this.#crBefore(bytes, start) ? 2 : 1);
      this.#capture.finish(bytes, this.#offset, end);
      this.#decoded.finish(bytes, this.#offset, end);
      this.#links?.finish(bytes, this.#offset, end);
      this.#tree.closeInside(index, end, this.#lineEnds - 2);
      if (closing) this.#tree.unwatch(index);
      else this.#begin(this.#offset + next);
    }
    this.#nextLine(next);
  }

  #crBefore(bytes: Buffer, start: number): boolean {
    if (start <= 0) return this.#crBeforeLine;
    return (start === 1 ? this.#lastByte : bytes[start - 2]) === CR;
  }

  #begin(offset: number): void {
    if (!this.#tree.hasRoom()) {
      this.#flatten();
      return;
    }
    this.#tree.begin(offset);
    this.#inHeader = true;
    this.#kept = '';
  }

  #flatten(): void {
    this.#tree.flatten();
    this.#capture.stop();
    this.#decoded.stop();
    this.#links?.stop();
    this.#inHeader = false;
  }

  /** The header of the innermost part ends at that offset, by an empty line, a delimiter or the end of the message. */
  #endHeader(bytes: Buffer, end: number): void {
    const node = this.#tree.top;
    const text = this.#headerText(bytes, node.headerStart, end);
    const fields = this.#limited(readFields(text.slice(0, LIMITS.header), LIMITS.fields + 1));
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
    // The delimiter that ended the header may have begun in the chunk before.
    if (end <= this.#offset) return this.#kept.slice(0, end - start);
    return this.#kept + bytes.toString('latin1', 0, Math.min(end - this.#offset, most));
  }

  #limited(fields: Field[]): Field[] {
    for (const field of fields) {
      if (field.value.length <= LIMITS.field) continue;
      field.value = field.value.slice(0, LIMITS.field);
      this.#tree.flattened = true;
    }
    return fields;
  }

  #readEnvelope(node: PartNode, fields: Field[]): void {
    const envelope = envelopeFields(fields, this.#budget);
    node.envelope = formatEnvelope(envelope);
    if (node.parent !== undefined) return;
    const references = firstField(fields, 'references');
    this.#top = {
      fields: envelope,
      references: references === undefined ? undefined : unfold(references),
      received: fields.filter(({ name }) => name === 'received').length,
    };
  }

  /** Decides by its header what the body of a part is. */
  #open(node: PartNode): void {
    const boundary = boundaryOf(node.header);
    if (boundary === undefined && !isOpenMessage(node.header)) {
      this.#capture.begin(node);
      this.#decoded.begin(node);
      this.#links?.begin(node);
    } else if (this.#tree.isTooDeep()) this.#tree.flattened = true;
    else if (!this.#tree.hasRoom() || (boundary?.length ?? 0) > LIMITS.boundary) this.#flatten();
    else if (boundary === undefined) this.#begin(node.bodyStart);
    else this.#tree.watch(boundary);
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
    this.#capture.keep(bytes, this.#offset);
    this.#decoded.keep(bytes, this.#offset);
    this.#links?.keep(bytes, this.#offset);
    this.#lastByte = bytes[bytes.length - 1] ?? 0;
    this.#offset += bytes.length;
  }
}
