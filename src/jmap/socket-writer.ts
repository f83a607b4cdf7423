import type { WebSocket } from 'ws';
import { jsonPieces } from '../../mail/jmap/core/json-pieces.ts';

/** Approximate characters of one frame. */
const FRAME = 64 * 1024;
/** Maximum messages that wait for a client that does not read. */
const MAX_WAITING = 256;

/** Sends messages one after the other; a long one in fragments, as fast as the client reads them. RFC 6455 5.4. */
export class SocketWriter {
  readonly #socket: WebSocket;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Resolves when the message has left, or the connection is closed. Disconnects a client that does not read. */
  send(message: object): Promise<void> {
    if (this.#waiting >= MAX_WAITING) this.#socket.terminate();
    if (!this.#isOpen) return Promise.resolve();
    this.#waiting++;
    this.#last = this.#last.then(() => this.#write(message)).finally(() => this.#waiting--);
    return this.#last;
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  async #write(message: object): Promise<void> {
    let frame = '';
    for (const piece of jsonPieces(message)) {
      if (frame.length >= FRAME) {
        await this.#send(frame, false);
        frame = '';
      }
      if (!this.#isOpen) return;
      frame += piece;
    }
    await this.#send(frame, true);
  }

  async #send(frame: string, fin: boolean): Promise<void> {
    if (this.#isOpen) await new Promise<void>((resolve) => this.#socket.send(frame, { fin }, () => resolve()));
  }
}
