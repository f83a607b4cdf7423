import type { FastifyReply } from 'fastify';

/** Buffer limit for a client that does not read; beyond it the connection is destroyed and the client reconnects. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** An open response of server-sent events. WHATWG HTML 9.2. */
export class EventWriter {
  readonly #raw: FastifyReply['raw'];

  /** Starts the response with additional headers. */
  constructor(reply: FastifyReply, headers: Readonly<Record<string, string>> = {}) {
    this.#raw = reply.raw;
    reply.hijack();
    this.#raw.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream',
      // No proxy may cache, buffer or compress the stream.
      'cache-control': 'no-cache, no-store, no-transform',
      'x-accel-buffering': 'no',
      // The connection closes with the stream.
      connection: 'close',
    });
    this.#raw.write(': Mailstead\n\n');
  }

  get isOpen(): boolean {
    return !this.#raw.writableEnded && !this.#raw.destroyed;
  }

  /** Calls back when the stream is closed by either side. */
  onClose(callback: () => void): void {
    if (this.#raw.closed) callback();
    else this.#raw.once('close', callback);
  }

  /** Writes one event. Without `data` it only updates the client's last event id and triggers no handler. */
  event({ event, id, data }: { event?: string; id?: string | undefined; data?: object }): void {
    const lines = [
      ...(event === undefined ? [] : [`event: ${event}`]),
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
    ];
    this.write(`${lines.join('\n')}\n\n`);
  }

  write(text: string): void {
    if (!this.isOpen) return;
    if (this.#raw.writableLength > MAX_BUFFERED_BYTES) this.cutOff();
    else this.#raw.write(text);
  }

  /** Calls back periodically while the stream is open. */
  every(ms: number, callback: () => void): void {
    const timer = setInterval(callback, ms).unref();
    this.onClose(() => clearInterval(timer));
  }

  /** Resolves when the buffer is drained or the client disconnected. Destroys the connection after `ms`. */
  async drained(ms: number): Promise<void> {
    if (!this.isOpen || !this.#raw.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const slow = setTimeout(() => this.cutOff(), ms).unref();
      const done = (): void => {
        clearTimeout(slow);
        this.#raw.off('drain', done).off('close', done);
        resolve();
      };
      this.#raw.once('drain', done).once('close', done);
    });
  }

  end(): void {
    this.#raw.end();
  }

  /** Destroys the connection if the stream has not ended within `ms`. */
  endWithin(ms: number): void {
    const late = setTimeout(() => this.cutOff(), ms).unref();
    this.onClose(() => clearTimeout(late));
  }

  /** Destroys the connection. */
  cutOff(): void {
    this.#raw.destroy();
  }
}
