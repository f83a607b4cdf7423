import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received<Event> {
  headers: IncomingMessage['headers'];
  /** As it came. */
  body: Buffer;
  event: Event;
}

/** A webhook receiver on loopback. */
export class WebhookReceiver<Event> implements Disposable {
  told: Received<Event>[] = [];
  /** HTTP statuses of the next answers; 200 when there is none. */
  answers: number[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      this.told.push({ headers: request.headers, body, event: JSON.parse(body.toString()) as Event });
      response.writeHead(this.answers.shift() ?? 200, { location: 'http://127.0.0.1:1/' }).end('thanks');
    });
  });

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/told`;
  }

  discard(): void {
    this.told = [];
    this.answers = [];
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}
