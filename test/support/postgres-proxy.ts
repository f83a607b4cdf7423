import { mkdirSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { CommitFinder } from './postgres-frames.ts';
import type { PostgresServer } from './postgres.ts';

const SOCKET = '.s.PGSQL.5432';

/** Fault of one commit: its reply is lost with the connection, it is lost before PostgreSQL gets it, or the network is silent. */
export type CommitFault = 'lose-reply' | 'lose-commit' | 'stall';

/** A proxy in front of a PostgreSQL whose connections a test can cut or let fall silent. */
export class PostgresProxy implements AsyncDisposable {
  readonly url: string;
  readonly #listener: Server;
  readonly #open = new Set<Socket>();
  #fault: { kind: CommitFault; met: () => void } | undefined;
  #isRefusing = false;
  #isSilent = false;

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

  /** Lets the next commit of a batch fail so; resolves when it does. */
  failCommit(kind: CommitFault): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#fault = { kind, met: resolve };
    return promise;
  }

  /** Drops everything that is sent, also on new connections, and says nothing. */
  stall(): void {
    this.#isSilent = true;
  }

  /** Ends all connections and refuses new ones until {@link recover}. */
  refuse(): void {
    this.#isRefusing = true;
    for (const client of this.#open) client.destroy();
  }

  /** Ends silence and refusals. Connections that were silent are lost. */
  recover(): void {
    if (this.#isSilent) for (const client of this.#open) client.destroy();
    this.#isSilent = false;
    this.#isRefusing = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#open) client.destroy();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  #relay(client: Socket, target: string): void {
    if (this.#isRefusing) return void client.destroy();
    const upstream = connect(target);
    this.#open.add(client);
    client.on('close', () => {
      this.#open.delete(client);
      upstream.destroy();
    });
    upstream.on('close', () => {
      if (!this.#isSilent) client.destroy();
    });
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy());
    this.#forward(client, upstream);
  }

  #forward(client: Socket, upstream: Socket): void {
    const finder = new CommitFinder();
    let losesReply = false;
    client.on('data', (octets) => {
      if (this.#isSilent) return;
      const fault = finder.endsWithCommit(octets) ? this.#takeFault() : undefined;
      if (fault === 'lose-commit') return void client.destroy();
      losesReply ||= fault === 'lose-reply';
      if (fault === 'stall') this.#isSilent = true;
      else upstream.write(octets);
    });
    upstream.on('data', (octets) => {
      if (this.#isSilent) return;
      // PostgreSQL replies when it has flushed the commit.
      if (losesReply) client.destroy();
      else client.write(octets);
    });
  }

  #takeFault(): CommitFault | undefined {
    const fault = this.#fault;
    this.#fault = undefined;
    fault?.met();
    return fault?.kind;
  }
}
