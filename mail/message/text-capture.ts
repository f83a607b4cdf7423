import { LIMITS } from './limits.ts';
import { parameter } from './parameters.ts';
import type { PartNode } from './part-tree.ts';
import { previewOf, type TextPart } from './preview.ts';

/** Keeps the start of the first text part that makes a preview: plain text if there is any, else HTML. */
export class TextCapture {
  #plain = '';
  #html = '';
  #part: TextPart | undefined;
  #from = 0;
  #kept: Buffer[] = [];
  #length = 0;

  get preview(): string {
    return this.#plain === '' ? this.#html : this.#plain;
  }

  /** The body of this leaf begins. */
  begin(node: PartNode): void {
    this.stop();
    const { type, subtype, params, encoding, disposition } = node.header;
    const wanted = subtype === 'html' ? this.#html === '' : subtype === 'plain';
    if (type !== 'text' || !wanted || this.#plain !== '' || disposition?.value === 'attachment') return;
    this.#part = { subtype, encoding, charset: parameter(params, 'charset') ?? '' };
    this.#from = node.bodyStart;
  }

  /** The chunk that begins at `offset` is over and the part goes on. */
  keep(bytes: Buffer, offset: number): void {
    if (this.#part === undefined || this.#length >= LIMITS.previewSource) return;
    const piece = this.#piece(bytes, offset, offset + bytes.length);
    if (piece.length > 0) this.#kept.push(Buffer.from(piece));
    this.#length += piece.length;
  }

  /** The part ends at the offset `end`. */
  finish(bytes: Buffer, offset: number, end: number): void {
    const part = this.#part;
    if (part === undefined) return;
    const piece = this.#piece(bytes, offset, end);
    const octets = this.#length === 0 ? piece : Buffer.concat([...this.#kept, piece]);
    // The delimiter's own line end may have been kept with the chunk before.
    const preview = previewOf(octets.subarray(0, Math.max(0, end - this.#from)), part);
    if (part.subtype === 'html') this.#html = preview;
    else this.#plain = preview;
    this.stop();
  }

  stop(): void {
    this.#part = undefined;
    this.#kept = [];
    this.#length = 0;
  }

  #piece(bytes: Buffer, offset: number, end: number): Buffer {
    const start = Math.max(0, this.#from - offset);
    const room = LIMITS.previewSource - this.#length;
    return bytes.subarray(start, Math.max(start, Math.min(end - offset, start + room)));
  }
}
