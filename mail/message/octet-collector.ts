const FIRST_CAPACITY = 4 * 1024;

/**
 * Collects octets that come in pieces of any size. Copies each octet a bounded number of times: a sender may send one octet in
 * each piece, and a list of pieces would take a hundred times as much memory.
 */
export class OctetCollector {
  #octets: Buffer = Buffer.alloc(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The collected octets; valid until the next {@link push}. */
  get octets(): Buffer {
    return this.#octets.subarray(0, this.#size);
  }

  push(piece: Buffer): void {
    const size = this.#size + piece.length;
    if (size > this.#octets.length) {
      const more = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, size, 2 * this.#octets.length));
      this.octets.copy(more);
      this.#octets = more;
    }
    piece.copy(this.#octets, this.#size);
    this.#size = size;
  }
}
