import { type Field, readFields } from '../message/header.ts';
import { LIMITS } from '../message/limits.ts';

/** Captures the header of a message that arrives in chunks, up to the size that is parsed. */
export class HeaderCapture {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  push(chunk: Buffer): void {
    if (this.#size >= LIMITS.header) return;
    this.#chunks.push(Buffer.from(chunk));
    this.#size += chunk.length;
  }

  /** Parses the fields above the first empty line. */
  fields(): Field[] {
    return readFields(Buffer.concat(this.#chunks).subarray(0, LIMITS.header).toString('latin1'), LIMITS.fields);
  }
}
