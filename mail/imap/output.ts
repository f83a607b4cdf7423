import type { Socket } from 'node:net';
import { compress } from './compression.ts';

/** Characters collected before they become octets of a batch; a shorter response is sent without one. */
const BATCH_CHARACTERS = 16 * 1024;
/** Octets of a batch, which is one socket write: each costs a system call of several microseconds. */
const BATCH_OCTETS = 64 * 1024;
/** Buffers below this many octets are copied into the batch. */
const MAX_COLLECTED_BUFFER = 16 * 1024;
/** Octets of one write: larger buffers are cut, so that a slow reader shows progress before a whole literal was sent. */
const MAX_WRITE = 64 * 1024;
/** Octets buffered in the socket; a producer of more waits until the client reads. */
const HIGH_WATER = 256 * 1024;

/** Thrown in a command whose client disconnected; the session's loop ends without a log line. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected';
}

/** Buffered output of one session. Memory is bounded as long as producers of large responses await {@link Output.drained}. */
export class Output {
  private readonly socket: Socket;
  /** Octets collected before {@link collected}. */
  private batch: Buffer | undefined;
  private filled = 0;
  private collected = '';
  private highWater = HIGH_WATER;
  private resume: (() => void) | undefined;
  private compresses = false;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Adds latin1 text or octets; sends when a batch is full. */
  write(piece: string | Uint8Array): void {
    if (typeof piece === 'string') {
      this.collected += piece;
      if (this.collected.length >= BATCH_CHARACTERS) this.collectText();
      return;
    }
    if (piece.length < MAX_COLLECTED_BUFFER) {
      this.collectText();
      this.collectOctets(piece);
      return;
    }
    this.flush();
    for (let at = 0; at < piece.length; at += MAX_WRITE) this.send(piece.subarray(at, at + MAX_WRITE));
  }

  private collectText(): void {
    const text = this.collected;
    this.collected = '';
    for (let at = 0; at < text.length;) {
      const rest = at === 0 ? text : text.slice(at);
      const written = this.openBatch().write(rest, this.filled, 'latin1');
      this.filled += written;
      at += written;
    }
  }

  private collectOctets(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      const batch = this.openBatch();
      const part = piece.subarray(at, at + batch.length - this.filled);
      batch.set(part, this.filled);
      this.filled += part.length;
      at += part.length;
    }
  }

  /** A batch with room for one octet at least. */
  private openBatch(): Buffer {
    if (this.filled === BATCH_OCTETS) this.sendBatch();
    return (this.batch ??= Buffer.allocUnsafeSlow(BATCH_OCTETS));
  }

  private sendBatch(): void {
    const { batch, filled } = this;
    this.batch = undefined;
    this.filled = 0;
    if (batch !== undefined) this.send(batch.subarray(0, filled));
  }

  /** Compresses everything from now on; what was written before is sent as it is. */
  startCompression(): void {
    this.flush();
    this.compresses = true;
  }

  private send(octets: Uint8Array): void {
    if (this.socket.writable) this.socket.write(this.compresses ? compress(octets) : octets);
  }

  /** Sends what was collected. */
  flush(): void {
    if (this.batch !== undefined) {
      this.collectText();
      this.sendBatch();
      return;
    }
    const text = this.collected;
    this.collected = '';
    if (text === '') return;
    if (this.compresses) this.send(Buffer.from(text, 'latin1'));
    else if (this.socket.writable) this.socket.write(text, 'latin1');
  }

  /** Octets not yet sent. */
  get waiting(): number {
    return this.socket.writableLength + this.filled + this.collected.length;
  }

  get backedUp(): boolean {
    return this.socket.writableLength > this.highWater;
  }

  /** Memory is short: waits until everything was sent, instead of {@link HIGH_WATER}. */
  set isShort(short: boolean) {
    this.highWater = short ? 0 : HIGH_WATER;
  }

  /** Waits until the client has read enough to write more; rejects with {@link Disconnected}. */
  async drained(): Promise<void> {
    while (this.backedUp) {
      if (this.socket.destroyed) throw new Disconnected();
      await new Promise<void>((resolve) => {
        this.resume = resolve;
      });
    }
    if (this.socket.destroyed) throw new Disconnected();
  }

  /** Called when the socket drained or closed. */
  onDrain(): void {
    const wake = this.resume;
    this.resume = undefined;
    wake?.();
  }

  /** Flushes, then closes. */
  end(): void {
    this.flush();
    this.socket.end();
  }
}
