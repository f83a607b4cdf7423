import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ReplyReader, type ServerReply } from '../smtp/reply-reader.ts';
import type { Host } from './destination.ts';

/** What came instead of what was waited for; `why` is one clean line. */
export interface Lost {
  kind: 'lost';
  why: string;
  /** It was time that ran out; everything else is the peer's or the network's doing. */
  late: boolean;
}

export type Answer = { kind: 'reply'; reply: ServerReply } | Lost;

/** Replies that may come before they are asked for: more than any pipelined group has. */
const MOST_UNREAD = 256;
/** From our QUIT to the end of the connection. */
const GOODBYE_MS = 5000;

/**
 * The octets of one connection to a server: commands out, replies in, one wait at a time. Never throws; what goes wrong
 * is a value, and after it the connection is closed.
 */
export class Connection {
  #socket: Socket;
  #reader = new ReplyReader();
  #replies: ServerReply[] = [];
  #lost: Lost | undefined;
  #wake: (() => void) | undefined;
  #onClosed: (() => void) | undefined;
  #from = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen(socket);
  }

  /** Connects within `timeout` ms, from the address `from` when there is one. */
  static async dial(host: Host, timeout: number, from?: string): Promise<Connection | Lost> {
    const to = { host: host.ip, port: host.port, noDelay: true };
    const socket = connectTcp(from === undefined ? to : { ...to, localAddress: from });
    const connection = new Connection(socket);
    socket.once('connect', () => connection.#wake?.());
    await connection.#until(() => !socket.connecting, timeout, 'connecting took too long');
    connection.#from = socket.localAddress ?? '';
    return connection.#lost ?? connection;
  }

  /** Our own address. */
  get from(): string {
    return this.#from;
  }

  get closed(): boolean {
    return this.#lost !== undefined;
  }

  /** Calls back once when the connection is closed, lost or given up. */
  onClosed(listener: () => void): void {
    if (this.closed) listener();
    else this.#onClosed = listener;
  }

  /** True when octets have come that nobody has asked for yet. */
  get unread(): boolean {
    return this.#replies.length > 0 || this.#reader.pending;
  }

  /** The next reply, within `timeout` ms for the whole of it: a server that sends an octet a minute gains nothing. */
  async reply(timeout: number): Promise<Answer> {
    await this.#until(() => this.#replies.length > 0, timeout, 'the server did not answer in time');
    const reply = this.#replies.shift();
    // What the server said before it closed counts more than that it closed.
    return reply === undefined ? this.#gone() : { kind: 'reply', reply };
  }

  /** Writes; answers nothing when more may follow at once, else a promise to wait for, lost after `timeout` ms. */
  write(octets: Buffer | string, timeout: number): Promise<Lost | undefined> | Lost | undefined {
    if (this.#lost !== undefined) return this.#lost;
    return this.#socket.write(octets, 'latin1') ? undefined : this.#drained(timeout);
  }

  /** Keeps small writes together until {@link uncork}. */
  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  /**
   * Begins TLS on this connection, with `ticket` as the continuation of a session. The caller has made sure that nothing
   * unread is left. Certificates are not judged here.
   */
  async startTls(servername: string, timeout: number, ticket?: Buffer): Promise<TLSSocket | Lost> {
    const plain = this.#socket;
    plain.removeAllListeners('data');
    this.#reader = new ReplyReader();
    let secure = false;
    const socket = connectTls({
      socket: plain,
      host: servername,
      servername: isIP(servername) === 0 ? servername : '',
      ...(ticket !== undefined && { session: ticket }),
      // Opportunistic TLS: an unverified certificate still keeps listeners out, plain text would not. RFC 7435.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    });
    this.#socket = socket;
    this.#listen(socket);
    socket.once('secureConnect', () => {
      secure = true;
      this.#wake?.();
    });
    await this.#until(() => secure, timeout, 'TLS took too long to set up');
    return this.#lost ?? socket;
  }

  /** Says goodbye without waiting for the answer. */
  quit(): void {
    if (this.#lost !== undefined) return;
    this.#lose('the connection is closed');
    this.#socket.end('QUIT\r\n');
    // A server that does not close its side must not keep ours open, not even by going on to talk.
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), GOODBYE_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  }

  /** Closes at once: the one safe way out when the two sides may disagree on what has been said. */
  destroy(why = 'the connection is closed'): void {
    this.#lose(why);
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.destroy('the server closed the connection'));
    socket.on('error', (error) => this.destroy(errorText(error)));
    socket.on('close', () => this.destroy('the server closed the connection'));
  }

  #take(chunk: Buffer): void {
    if (this.#lost !== undefined) return;
    for (const read of this.#reader.push(chunk)) {
      if (read.kind === 'broken') return this.destroy(`the server does not speak SMTP: ${read.why}`);
      this.#replies.push(read.reply);
    }
    if (this.#replies.length > MOST_UNREAD) return this.destroy('the server talks without being asked');
    this.#wake?.();
  }

  #lose(why: string, late = false): void {
    if (this.#lost !== undefined) return;
    this.#lost = { kind: 'lost', why, late };
    this.#wake?.();
    this.#onClosed?.();
  }

  #gone(): Lost {
    return this.#lost ?? { kind: 'lost', why: 'the connection is closed', late: false };
  }

  async #drained(timeout: number): Promise<Lost | undefined> {
    let drained = false;
    this.#socket.once('drain', () => {
      drained = true;
      this.#wake?.();
    });
    // An early answer ends the wait too: a server that has refused the message need not read the rest of it.
    await this.#until(
      () => drained || this.#replies.length > 0,
      timeout,
      'the server did not take more of the message',
    );
    return this.#lost;
  }

  /** Waits until `done` holds or the connection is lost, which a wait of more than `timeout` ms makes it. */
  async #until(done: () => boolean, timeout: number, why: string): Promise<void> {
    if (done() || this.#lost !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#lose(why, true);
      this.#socket.destroy();
    }, timeout);
    this.#wake = () => {
      if (done() || this.#lost !== undefined) resolve();
    };
    await promise;
    clearTimeout(timer);
    this.#wake = undefined;
  }
}

const ERRORS: Record<string, string> = {
  ECONNREFUSED: 'the server refused the connection',
  ECONNRESET: 'the server broke the connection',
  EPIPE: 'the server broke the connection',
  ENETUNREACH: 'there is no way to the server',
  EHOSTUNREACH: 'there is no way to the server',
  EADDRNOTAVAIL: 'there is no way to the server',
  ETIMEDOUT: 'the server does not answer',
};

function errorText(error: Error & { code?: string }): string {
  const code = error.code ?? '';
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
  return known ?? `the connection failed (${(code || error.message).replace(/[^\x20-\x7e]/g, '?').slice(0, 100)})`;
}
