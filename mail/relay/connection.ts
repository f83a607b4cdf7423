import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ReplyReader, type ServerReply } from '../smtp/reply-reader.ts';
import type { Host } from './destination.ts';

/** Loss of a connection; `why` is one sanitized line. */
export interface LostConnection {
  kind: 'lost';
  why: string;
  /** Caused by our timeout, as opposed to the peer or the network. */
  isTimeout: boolean;
}

export type ReplyResult = { kind: 'reply'; reply: ServerReply } | LostConnection;

/** Buffered replies: more than any pipelined group has. */
const MAX_UNREAD = 256;
/** Time from QUIT to the end of the connection. */
const QUIT_TIMEOUT_MS = 5000;

/**
 * One SMTP client connection: writes commands, reads replies, one wait at a time. Never throws; failures are values, and close
 * the connection.
 */
export class Connection {
  #socket: Socket;
  #reader = new ReplyReader();
  #replies: ServerReply[] = [];
  #lost: LostConnection | undefined;
  #wake: (() => void) | undefined;
  #onClosed: (() => void) | undefined;
  #from = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen(socket);
  }

  /** Connects within `timeout` ms, from the address `from` when there is one. */
  static async dial(host: Host, timeout: number, from?: string): Promise<Connection | LostConnection> {
    const to = { host: host.ip, port: host.port, noDelay: true };
    const socket = connectTcp(from === undefined ? to : { ...to, localAddress: from });
    const connection = new Connection(socket);
    socket.once('connect', () => connection.#wake?.());
    await connection.#until(() => !socket.connecting, timeout, 'connecting timed out');
    connection.#from = socket.localAddress ?? '';
    return connection.#lost ?? connection;
  }

  /** Source address of the connection. */
  get from(): string {
    return this.#from;
  }

  get closed(): boolean {
    return this.#lost !== undefined;
  }

  /** Calls back once when the connection is closed or lost. */
  onClosed(listener: () => void): void {
    if (this.closed) listener();
    else this.#onClosed = listener;
  }

  /** True if octets have arrived that no reply() has read. */
  get unread(): boolean {
    return this.#replies.length > 0 || this.#reader.pending;
  }

  /** Reads the next reply within `timeout` ms in total, so that a server cannot stall by single octets. */
  async reply(timeout: number): Promise<ReplyResult> {
    await this.#until(() => this.#replies.length > 0, timeout, 'the server did not reply in time');
    const reply = this.#replies.shift();
    // A reply from before the close counts.
    return reply === undefined ? this.#lostOrClosed() : { kind: 'reply', reply };
  }

  /** Writes octets. Undefined: more may follow at once; else a promise to wait for, lost after `timeout` ms. */
  write(octets: Buffer | string, timeout: number): Promise<LostConnection | undefined> | LostConnection | undefined {
    if (this.#lost !== undefined) return this.#lost;
    return this.#socket.write(octets, 'latin1') ? undefined : this.#drained(timeout);
  }

  /** Buffers small writes until {@link uncork}. */
  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  /**
   * Starts TLS, resuming a session if there is a `ticket`. The caller ensures that nothing unread is left. Certificates are
   * verified by the caller.
   */
  async startTls(servername: string, timeout: number, ticket?: Buffer): Promise<TLSSocket | LostConnection> {
    const plain = this.#socket;
    plain.removeAllListeners('data');
    this.#reader = new ReplyReader();
    let secure = false;
    const socket = connectTls({
      socket: plain,
      host: servername,
      servername: isIP(servername) === 0 ? servername : '',
      ...(ticket !== undefined && { session: ticket }),
      // Opportunistic TLS: encryption without verification still protects from passive eavesdropping. RFC 7435.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    });
    this.#socket = socket;
    this.#listen(socket);
    socket.once('secureConnect', () => {
      secure = true;
      this.#wake?.();
    });
    await this.#until(() => secure, timeout, 'the TLS handshake timed out');
    return this.#lost ?? socket;
  }

  /** Sends QUIT without waiting for the reply. */
  quit(): void {
    if (this.#lost !== undefined) return;
    this.#lose('the connection is closed');
    this.#socket.end('QUIT\r\n');
    // A server that does not close its side must not keep ours open, even if it keeps sending.
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), QUIT_TIMEOUT_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  }

  /** Closes at once: the only safe action if replies may not match commands. */
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
    if (this.#replies.length > MAX_UNREAD) return this.destroy('the server sends unsolicited replies');
    this.#wake?.();
  }

  #lose(why: string, late = false): void {
    if (this.#lost !== undefined) return;
    this.#lost = { kind: 'lost', why, isTimeout: late };
    this.#wake?.();
    this.#onClosed?.();
  }

  #lostOrClosed(): LostConnection {
    return this.#lost ?? { kind: 'lost', why: 'the connection is closed', isTimeout: false };
  }

  async #drained(timeout: number): Promise<LostConnection | undefined> {
    let drained = false;
    this.#socket.once('drain', () => {
      drained = true;
      this.#wake?.();
    });
    // An early reply ends the wait too: a server that has rejected the message need not read the rest.
    await this.#until(() => drained || this.#replies.length > 0, timeout, 'the server stopped reading the message');
    return this.#lost;
  }

  /** Waits until `done` or the connection is lost; after `timeout` ms it is lost. */
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
  ECONNRESET: 'the server reset the connection',
  EPIPE: 'the server reset the connection',
  ENETUNREACH: 'no route to the server',
  EHOSTUNREACH: 'no route to the server',
  EADDRNOTAVAIL: 'no route to the server',
  ETIMEDOUT: 'the connection timed out',
};

function errorText(error: Error & { code?: string }): string {
  const code = error.code ?? '';
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
  return known ?? `the connection failed (${(code || error.message).replace(/[^\x20-\x7e]/g, '?').slice(0, 100)})`;
}
