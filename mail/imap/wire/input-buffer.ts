const NOTHING = Buffer.alloc(0);

/**
 * Received, unread octets. Offsets count from the first of them. A single chunk is stored by reference; several are joined
 * in a buffer that doubles, so every octet is copied a constant number of times. Holds no memory when empty.
 */
export class InputBuffer {
  private bytes: Buffer = NOTHING;
  private start = 0;
  private stop = 0;
  private owned = false;

  get length(): number {
    return this.stop - this.start;
  }

  push(chunk: Buffer): void {
    if (this.start === this.stop) {
      this.bytes = chunk;
      this.start = 0;
      this.stop = chunk.length;
      this.owned = false;
      return;
    }
    if (!this.owned || this.bytes.length - this.stop < chunk.length) this.reallocate(this.length + chunk.length);
    // Views returned earlier end at or before `stop`: they are not overwritten.
    chunk.copy(this.bytes, this.stop);
    this.stop += chunk.length;
  }

  /** Offset of the octet at or after `from`, or -1. */
  indexOf(octet: number, from: number): number {
    // Searches the valid part only, not the spare capacity.
    const found = this.bytes.subarray(this.start + from, this.stop).indexOf(octet);
    return found === -1 ? -1 : found + from;
  }

  at(offset: number): number {
    return this.bytes[this.start + offset] ?? 0;
  }

  /** A view that is never overwritten. */
  view(from: number, to: number): Buffer {
    return this.bytes.subarray(this.start + from, this.start + to);
  }

  drop(count: number): void {
    this.start += count;
  }

  take(count: number): Buffer {
    const taken = this.view(0, count);
    this.drop(count);
    return taken;
  }

  clear(): void {
    this.bytes = NOTHING;
    this.start = 0;
    this.stop = 0;
  }

  /** Call before waiting for input: copies the rest, because a few octets would keep the socket's 64 KiB slab in memory. */
  compact(): void {
    if (this.start === this.stop) this.clear();
    else if (!this.owned) this.reallocate(this.length);
  }

  private reallocate(capacity: number): void {
    const bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(Math.max(capacity, 64))));
    this.bytes.copy(bytes, 0, this.start, this.stop);
    this.stop -= this.start;
    this.start = 0;
    this.bytes = bytes;
    this.owned = true;
  }
}
