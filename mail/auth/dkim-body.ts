import { createHash } from 'node:crypto';

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
/** Octets that one input octet can add: a CR, a line end, a blank, itself. */
const MAX_STEP_OCTETS = 8;
const LINE_END = Buffer.from('\r\n');

/** Consumes canonical octets. */
export interface Digest {
  update(octets: Uint8Array): unknown;
  digest(): Buffer;
}

/** Shared buffer; empty between two calls. */
const OUT = Buffer.allocUnsafe(16 * 1024);

/**
 * Hashes a body under the relaxed canonicalization of RFC 6376 3.4.4, chunk by chunk. Memory does not grow with the
 * body.
 */
export class BodyHasher {
  readonly #hash: Digest;
  /** Octets in `OUT`; 0 between two calls. */
  #used = 0;
  /** White space seen and not yet written; dropped at the end of a line. */
  #blank = false;
  /** A CR whose LF may come in the next chunk. */
  #cr = false;
  /** Line ends not yet written; those at the end of the body are dropped. */
  #lineEnds = 0;
  #empty = true;

  constructor(hash: Digest = createHash('sha256')) {
    this.#hash = hash;
  }

  update(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (!this.#waits) at = this.#copy(chunk, at);
      if (at < chunk.length) this.#step(chunk[at++] as number);
      if (this.#used + MAX_STEP_OCTETS > OUT.length) this.#flush();
    }
    this.#flush();
  }

  /** Returns the SHA-256 of the canonical body. Call once. */
  digest(): Buffer {
    if (this.#cr) this.#plain(CR);
    this.#flush();
    // RFC 6376 3.4.4: an empty body stays empty, any other ends in exactly one CRLF.
    if (!this.#empty) this.#hash.update(LINE_END);
    return this.#hash.digest();
  }

  /** True while white space or line ends are pending. */
  get #waits(): boolean {
    return this.#blank || this.#cr || this.#lineEnds > 0;
  }

  /**
   * Fast path: copies text, single blanks and line ends followed by text, which canonicalization leaves alone. Returns
   * the index where that ends.
   */
  #copy(chunk: Uint8Array, at: number): number {
    const out = OUT;
    const start = this.#used;
    const end = Math.min(chunk.length - 2, at + out.length - MAX_STEP_OCTETS - start);
    let used = start;
    for (; at < end; at += 1) {
      const octet = chunk[at] as number;
      if (octet <= SPACE) {
        const next = chunk[at + 1] as number;
        if (octet === CR && next === LF && (chunk[at + 2] as number) > SPACE) {
          out[used++] = CR;
          at += 1;
        } else if (octet !== SPACE || next <= SPACE) break;
      }
      out[used++] = chunk[at] as number;
    }
    this.#used = used;
    if (used > start) this.#empty = false;
    return at;
  }

  #step(octet: number): void {
    if (this.#cr) {
      this.#cr = false;
      if (octet === LF) {
        this.#blank = false;
        this.#lineEnds += 1;
        return;
      }
      this.#plain(CR);
    }
    if (octet === CR) this.#cr = true;
    else if (octet === SPACE || octet === TAB) this.#blank = true;
    else this.#plain(octet);
  }

  #plain(octet: number): void {
    if (this.#lineEnds > 0) this.#writeLineEnds();
    if (this.#blank) OUT[this.#used++] = SPACE;
    this.#blank = false;
    OUT[this.#used++] = octet;
    this.#empty = false;
  }

  #writeLineEnds(): void {
    for (; this.#lineEnds > 0; this.#lineEnds -= 1) {
      if (this.#used + MAX_STEP_OCTETS > OUT.length) this.#flush();
      OUT[this.#used++] = CR;
      OUT[this.#used++] = LF;
    }
  }

  #flush(): void {
    if (this.#used > 0) this.#hash.update(OUT.subarray(0, this.#used));
    this.#used = 0;
  }
}

/** Creates a hasher for one body: call `update` with octets, then `digest`. */
export function bodyHasher(): BodyHasher {
  return new BodyHasher();
}
