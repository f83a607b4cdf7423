import type { Socket } from 'node:net';
import { Inflater } from './compression.ts';

/** The session that reads the input. */
export interface InputReceiver {
  /** Replaced by STARTTLS. */
  readonly socket: Socket;
  onInput(octets: Buffer): void;
  onInvalidInput(): void;
}

/** The octets from the socket, decompressed after COMPRESS, and the pauses while a command runs. RFC 4978. */
export class SessionInput {
  readonly #receiver: InputReceiver;
  #inflater: Inflater | undefined;

  constructor(receiver: InputReceiver) {
    this.#receiver = receiver;
  }

  get isCompressed(): boolean {
    return this.#inflater !== undefined;
  }

  push(chunk: Buffer): void {
    if (this.#inflater === undefined) this.#receiver.onInput(chunk);
    else if (!this.#inflater.write(chunk)) this.#receiver.socket.pause();
  }

  startCompression(): void {
    const receiver = this.#receiver;
    this.#inflater = new Inflater({
      data: (piece) => receiver.onInput(piece),
      drain: () => receiver.socket.resume(),
      failed: () => receiver.onInvalidInput(),
    });
  }

  pause(): void {
    (this.#inflater ?? this.#receiver.socket).pause();
  }

  resume(): void {
    const source = this.#inflater ?? this.#receiver.socket;
    const isPaused = this.#inflater?.isPaused ?? this.#receiver.socket.isPaused();
    if (isPaused) source.resume();
  }

  close(): void {
    this.#inflater?.close();
  }
}
