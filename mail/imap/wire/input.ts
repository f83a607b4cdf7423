const NOTHING = Buffer.alloc(0);

/**
 * Octets that arrived and were not yet used. Offsets count from the first of them. A lone chunk is kept as it is; several
 * are joined in a buffer that doubles, so every octet is copied a constant number of times. Empty, it holds no memory.
 */
export class Input {
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
    if (!this.owned || this.bytes.length - this.stop < chunk.length) this.move(this.length + chunk.length);
    // Views that were handed out lie before `start` or end at `stop` or earlier: they are not written to.
    chunk.copy(this.bytes, this.stop);
    this.stop += chunk.length;
  }

  /** Offset of the octet at or after `from`, or -1. */
  indexOf(octet: number, from: number): number {
    // Within the valid part only: what lies behind it would be looked through at every call.
    const found = this.bytes.subarray(this.start + from, this.stop).indexOf(octet);
    return found === -1 ? -1 : found + from;
  }

  at(offset: number): number {
    return this.bytes[this.start + offset] ?? 0;
  }

  /** A view that stays as it is. */
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

  /** To be called when more is awaited: lets go of the socket's slab, of which a few octets would keep 64 KiB alive. */
  settle(): void {
    if (this.start === this.stop) this.clear();
    else if (!this.owned) this.move(this.length);
  }

  private move(room: number): void {
    const bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(Math.max(room, 64))));
    this.bytes.copy(bytes, 0, this.start, this.stop);
    this.stop -= this.start;
    this.start = 0;
    this.bytes = bytes;
    this.owned = true;
  }
}
