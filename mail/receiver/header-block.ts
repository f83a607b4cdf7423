import { type Field, readFields } from '../message/header.ts';
import { LIMITS } from '../message/limits.ts';

/** Keeps the header of a message that comes in chunks, as far as one is read at all. */
export class HeaderBlock {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  push(chunk: Buffer): void {
    if (this.#size >= LIMITS.header) return;
    this.#chunks.push(Buffer.from(chunk));
    this.#size += chunk.length;
  }

  /** Up to the empty line. */
  fields(): Field[] {
    return readFields(Buffer.concat(this.#chunks).subarray(0, LIMITS.header).toString('latin1'), LIMITS.fields);
  }
}
