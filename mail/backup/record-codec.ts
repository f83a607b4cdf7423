/** Writes numbers and octets one after the other into a growing buffer. */
export class RecordWriter {
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  number(value: number): void {
    this.#reserve(6);
    this.#length = this.#buffer.writeUIntBE(value, this.#length, 6);
  }

  octets(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  text(value: string): void {
    const octets = Buffer.from(value);
    this.number(octets.length);
    this.octets(octets);
  }

  end(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + more));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Reads what {@link RecordWriter} wrote. Throws a RangeError at the end. */
export class RecordReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  number(): number {
    const value = this.#buffer.readUIntBE(this.#at, 6);
    this.#at += 6;
    return value;
  }

  octets(length: number): Buffer {
    if (this.#at + length > this.#buffer.length) throw new RangeError('octets end early');
    const octets = this.#buffer.subarray(this.#at, this.#at + length);
    this.#at += length;
    return octets;
  }

  text(): string {
    return this.octets(this.number()).toString('utf8');
  }
}
