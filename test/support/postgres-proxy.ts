import { mkdirSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import type { PostgresServer } from './postgres.ts';

const SOCKET = '.s.PGSQL.5432';

/** A proxy in front of a PostgreSQL whose connections a test can cut. */
export class PostgresProxy implements AsyncDisposable {
  readonly url: string;
  readonly #listener: Server;
  readonly #open = new Set<Socket>();

  private constructor(url: string, listener: Server) {
    this.url = url;
    this.#listener = listener;
  }

  static async open(server: PostgresServer, name = 'proxy'): Promise<PostgresProxy> {
    const directory = join(server.socket, name);
    mkdirSync(directory);
    const url = new URL(server.url);
    url.searchParams.set('host', directory);
    const listener = createServer((client) => proxy.#relay(client, join(server.socket, SOCKET)));
    const proxy = new PostgresProxy(url.href, listener);
    await once(listener.listen(join(directory, SOCKET)), 'listening');
    return proxy;
  }

  /** Cuts one connection, what it carries included; `choose` returns a number below that of the connections. */
  cut(choose: (count: number) => number): void {
    [...this.#open][choose(this.#open.size)]?.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#open) client.destroy();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  #relay(client: Socket, target: string): void {
    const upstream = connect(target);
    this.#open.add(client);
    client.on('close', () => {
      this.#open.delete(client);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
  }
}
