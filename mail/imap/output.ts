import type { Socket } from 'node:net';
import { compress } from './compression.ts';

/** Characters collected before one socket write. */
const BATCH_CHARACTERS = 16 * 1024;
/** Buffers below this many octets are collected with the strings. */
const MAX_COLLECTED_BUFFER = 4 * 1024;
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
      if (this.collected.length >= BATCH_CHARACTERS) this.flush();
      return;
    }
    if (piece.length < MAX_COLLECTED_BUFFER) {
      this.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1'));
      return;
    }
    this.flush();
    for (let at = 0; at < piece.length; at += MAX_WRITE) this.send(piece.subarray(at, at + MAX_WRITE));
  }

  /** Compresses everything from now on; what was written before is sent as it is. */
  startCompression(): void {
    this.flush();
    this.compresses = true;
  }

  private send(octets: Uint8Array): void {
    this.socket.write(this.compresses ? compress(octets) : octets);
  }

  /** Sends the collected text. */
  flush(): void {
    if (this.collected === '') return;
    const text = this.collected;
    this.collected = '';
    if (!this.socket.writable) return;
    if (text.length > MAX_WRITE) this.write(Buffer.from(text, 'latin1'));
    else if (this.compresses) this.send(Buffer.from(text, 'latin1'));
    else this.socket.write(text, 'latin1');
  }

  /** Octets not yet sent. */
  get waiting(): number {
    return this.socket.writableLength + this.collected.length;
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
