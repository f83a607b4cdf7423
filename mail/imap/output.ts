import type { Socket } from 'node:net';

/** Strings are collected up to this many characters before they are given to the socket in one write. */
const BATCH = 16 * 1024;
/** Buffers below this many octets are collected too. */
const SMALL = 4 * 1024;
/** Large buffers are cut, so that a slow reader shows progress long before a whole literal has gone. */
const SLICE = 64 * 1024;
/** Octets that may wait in the socket; whoever produces more waits for the client to read. */
const HIGH_WATER = 256 * 1024;

/** Thrown where a command waits for a client that has gone; the session's loop ends quietly. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected';
}

/** The way out of one session. Memory is bounded as long as producers of large answers await {@link Output.room}. */
export class Output {
  private readonly socket: Socket;
  private collected = '';
  private wake: (() => void) | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Takes latin1 text or octets; sends nothing yet unless there is much of it. */
  say(piece: string | Uint8Array): void {
    if (typeof piece === 'string') {
      this.collected += piece;
      if (this.collected.length >= BATCH) this.flush();
      return;
    }
    if (piece.length < SMALL) {
      this.say(Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1'));
      return;
    }
    this.flush();
    for (let at = 0; at < piece.length; at += SLICE) this.socket.write(piece.subarray(at, at + SLICE));
  }

  /** Sends what was collected. */
  flush(): void {
    if (this.collected === '') return;
    const text = this.collected;
    this.collected = '';
    if (!this.socket.writable) return;
    if (text.length <= SLICE) this.socket.write(text, 'latin1');
    else this.say(Buffer.from(text, 'latin1'));
  }

  /** Octets that the client has not taken yet. */
  get waiting(): number {
    return this.socket.writableLength + this.collected.length;
  }

  get backedUp(): boolean {
    return this.socket.writableLength > HIGH_WATER;
  }

  /** Waits until the client has read enough for more to be said; rejects with {@link Disconnected}. */
  async room(): Promise<void> {
    while (this.backedUp) {
      if (this.socket.destroyed) throw new Disconnected();
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    if (this.socket.destroyed) throw new Disconnected();
  }

  /** The socket drained or closed. */
  drained(): void {
    const wake = this.wake;
    this.wake = undefined;
    wake?.();
  }

  /** Says the last, then closes. */
  end(): void {
    this.flush();
    this.socket.end();
  }
}
