import { LIMITS } from './limits.ts';
import { parameter } from './parameters.ts';
import type { PartHeader } from './part-header.ts';
import type { LeafReader, PartNode } from './part-tree.ts';
import { previewOf, type TextPart } from './preview.ts';

/** Previews of the first text parts, '' when missing; plain text is preferred. */
interface Previews {
  plain: string;
  html: string;
}

/** True if a leaf is captured: the first plain text, and the first HTML before it. */
export function isPreviewed({ type, subtype, disposition }: PartHeader, previews: Previews): boolean {
  const wanted = subtype === 'html' ? previews.html === '' : subtype === 'plain';
  return type === 'text' && wanted && previews.plain === '' && disposition?.value !== 'attachment';
}

/** Captures the start of a text part for the preview. */
export class TextCapture implements LeafReader {
  readonly #previews: Previews;
  readonly #part: TextPart;
  readonly #from: number;
  readonly #kept: Buffer[] = [];
  #length = 0;

  constructor({ header, bodyStart }: PartNode, previews: Previews) {
    this.#previews = previews;
    this.#part = {
      subtype: header.subtype,
      encoding: header.encoding,
      charset: parameter(header.params, 'charset') ?? '',
    };
    this.#from = bodyStart;
  }

  keep(bytes: Buffer, offset: number): void {
    if (this.#length >= LIMITS.previewSource) return;
    const piece = this.#piece(bytes, offset, offset + bytes.length);
    if (piece.length > 0) this.#kept.push(Buffer.from(piece));
    this.#length += piece.length;
  }

  finish(bytes: Buffer, offset: number, end: number): void {
    const piece = this.#piece(bytes, offset, end);
    const octets = this.#length === 0 ? piece : Buffer.concat([...this.#kept, piece]);
    // The line end of the delimiter may have been captured with the previous chunk.
    const preview = previewOf(octets.subarray(0, Math.max(0, end - this.#from)), this.#part);
    this.#previews[this.#part.subtype === 'html' ? 'html' : 'plain'] = preview;
  }

  #piece(bytes: Buffer, offset: number, end: number): Buffer {
    const start = Math.max(0, this.#from - offset);
    const room = LIMITS.previewSource - this.#length;
    return bytes.subarray(start, Math.max(start, Math.min(end - offset, start + room)));
  }
}
