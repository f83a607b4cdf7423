import type { FastifyReply } from 'fastify';

/** A client that reads nothing while so much waits for it is cut off; it comes back and asks what it missed. */
const MOST_WAITING_BYTES = 256 * 1024;

/** An answer of server-sent events, which stays open. HTML, "Server-sent events". */
export class EventWriter {
  readonly #raw: FastifyReply['raw'];

  /** Begins the answer, with these headers beside those of the kind. */
  constructor(reply: FastifyReply, headers: Readonly<Record<string, string>> = {}) {
    this.#raw = reply.raw;
    reply.hijack();
    this.#raw.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream',
      // Nothing on the way may keep it, gather it up, or compress it.
      'cache-control': 'no-cache, no-store, no-transform',
      'x-accel-buffering': 'no',
      // A stream that ends takes its connection along.
      connection: 'close',
    });
    this.#raw.write(': Mailstead\n\n');
  }

  get isOpen(): boolean {
    return !this.#raw.writableEnded && !this.#raw.destroyed;
  }

  /** Calls back when it is over, whoever ended it. */
  onClose(over: () => void): void {
    if (this.#raw.closed) over();
    else this.#raw.once('close', over);
  }

  /** One event; without `data` it only says how far the client has come, and no handler hears of it. */
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
    if (this.#raw.writableLength > MOST_WAITING_BYTES) this.cutOff();
    else this.#raw.write(text);
  }

  /** Does something each so many milliseconds, as long as it is open. */
  every(ms: number, beat: () => void): void {
    const timer = setInterval(beat, ms).unref();
    this.onClose(() => clearInterval(timer));
  }

  /** Resolves when the client has read enough to be told more, or is gone; it is cut off when it takes longer than `ms`. */
  async room(ms: number): Promise<void> {
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

  /** Cuts it off when it has not ended within `ms`, as where the client does not read the rest. */
  endWithin(ms: number): void {
    const late = setTimeout(() => this.cutOff(), ms).unref();
    this.onClose(() => clearTimeout(late));
  }

  /** Ends it in the middle. */
  cutOff(): void {
    this.#raw.destroy();
  }
}
