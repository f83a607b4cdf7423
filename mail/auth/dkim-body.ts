import { createHash } from 'node:crypto';

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
/** What one octet can add at most: a CR, a line end, a blank, itself. */
const ROOM = 8;
const LINE_END = Buffer.from('\r\n');

/** What takes the canonical octets in. */
export interface Digest {
  update(octets: Uint8Array): unknown;
  digest(): Buffer;
}

/** Shared by all: nothing of one body stays in it from one call to the next. */
const OUT = Buffer.allocUnsafe(16 * 1024);

/**
 * The hash of a body under the relaxed canonicalization of RFC 6376 3.4.4, chunk by chunk: one pass whatever the number
 * of signatures. Memory does not grow with the body.
 */
export class BodyHasher {
  readonly #hash: Digest;
  /** Octets waiting in `OUT`; none between two calls. */
  #used = 0;
  /** White space seen and not yet written: it counts only when something follows on its line. */
  #blank = false;
  /** A CR that may be the first half of a line end in the next chunk. */
  #cr = false;
  /** Line ends not yet written: those at the very end do not count, however many they are. */
  #lineEnds = 0;
  #empty = true;

  constructor(hash: Digest = createHash('sha256')) {
    this.#hash = hash;
  }

  update(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (!this.#waits) at = this.#copy(chunk, at);
      if (at < chunk.length) this.#step(chunk[at++] as number);
      if (this.#used + ROOM > OUT.length) this.#flush();
    }
    this.#flush();
  }

  /** The SHA-256 of the canonical body. Call once. */
  digest(): Buffer {
    if (this.#cr) this.#plain(CR);
    this.#flush();
    // RFC 6376 3.4.4: an empty body stays empty, any other ends in exactly one CRLF.
    if (!this.#empty) this.#hash.update(LINE_END);
    return this.#hash.digest();
  }

  /** White space or a line end has been seen that may not count. */
  get #waits(): boolean {
    return this.#blank || this.#cr || this.#lineEnds > 0;
  }

  /**
   * Copies from `at` on what stays as it is, which is nearly all of most bodies: text, single blanks inside a line, and
   * line ends that text follows. Answers where that ends.
   */
  #copy(chunk: Uint8Array, at: number): number {
    const out = OUT;
    const start = this.#used;
    const end = Math.min(chunk.length - 2, at + out.length - ROOM - start);
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
      if (this.#used + ROOM > OUT.length) this.#flush();
      OUT[this.#used++] = CR;
      OUT[this.#used++] = LF;
    }
  }

  #flush(): void {
    if (this.#used > 0) this.#hash.update(OUT.subarray(0, this.#used));
    this.#used = 0;
  }
}

/** Starts the hash of one body; octets are given to `update`, the hash comes from `digest`. */
export function bodyHasher(): BodyHasher {
  return new BodyHasher();
}
