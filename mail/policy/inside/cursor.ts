/** Reads octets in order, those of numbers the lowest first. Throws a `RangeError` behind their end. */
export class Cursor {
  readonly #octets: Buffer;
  #at: number;

  constructor(octets: Buffer, at = 0) {
    this.#octets = octets;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  uint16(): number {
    return this.take(2).readUInt16LE();
  }

  uint32(): number {
    return this.take(4).readUInt32LE();
  }

  /** Up to 2^64, exact up to 2^53. */
  uint64(): number {
    const low = this.uint32();
    return low + this.uint32() * 2 ** 32;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (!(length >= 0 && end <= this.#octets.length)) throw new RangeError('behind the end');
    const taken = this.#octets.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** What `read` makes of what is there; undefined where that ends too early. */
  static reading<T>(octets: Buffer, read: (cursor: Cursor) => T): T | undefined {
    try {
      return read(new Cursor(octets));
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }
}
