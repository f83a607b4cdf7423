import { type Digest } from './dkim-body.ts';

const CR = 13;
const LF = 10;
const LINE_END = Buffer.from('\r\n');
/** Source for writing held line ends. */
const LINE_ENDS = Buffer.from('\r\n'.repeat(512));

/** Hashes a body under the simple canonicalization of RFC 6376 3.4.3, chunk by chunk. */
export class SimpleBodyHasher {
  readonly #hash: Digest;
  /** Line ends not yet written; those at the end of the body are dropped. */
  #lineEnds = 0;
  /** A CR whose LF may come in the next chunk. */
  #cr = false;

  constructor(hash: Digest) {
    this.#hash = hash;
  }

  update(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    let start = 0;
    if (this.#cr) {
      this.#cr = false;
      if (chunk[0] === LF) {
        this.#lineEnds += 1;
        start = 1;
      } else this.#write(LINE_END.subarray(0, 1));
    }
    // Only line ends at the end of the chunk can be at the end of the body.
    let end = chunk.length;
    if (end > start && chunk[end - 1] === CR) {
      this.#cr = true;
      end -= 1;
    }
    const tail = end;
    while (end - 2 >= start && chunk[end - 2] === CR && chunk[end - 1] === LF) end -= 2;
    if (end > start) this.#write(chunk.subarray(start, end));
    this.#lineEnds += (tail - end) / 2;
  }

  /** Returns the hash; an empty body counts as one line end. Call once. */
  digest(): Buffer {
    if (this.#cr) this.#write(LINE_END.subarray(0, 1));
    this.#hash.update(LINE_END);
    return this.#hash.digest();
  }

  #write(octets: Uint8Array): void {
    for (; this.#lineEnds > 0; this.#lineEnds -= Math.min(512, this.#lineEnds)) {
      this.#hash.update(LINE_ENDS.subarray(0, 2 * Math.min(512, this.#lineEnds)));
    }
    this.#hash.update(octets);
  }
}
