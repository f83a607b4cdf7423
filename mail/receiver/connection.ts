import type { Socket } from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import { sniCallback } from '../limits/sni-callback.ts';

/** Events of a connection, handled by its session. */
export interface ConnectionEvents {
  octets(chunk: Buffer): void;
  /** The handshake is complete. */
  secured(): void;
  /** The peer reads again, or has ended its side. */
  changed(): void;
  failed(code: string | undefined): void;
  /** Called once, last. */
  closed(): void;
}

/** The socket of one session: writing, backpressure both ways, encryption, and a close that loses no response. */
export class ServerConnection {
  readonly ip: string;
  readonly port: number;
  /** The peer does not read what is written. */
  blocked = false;
  /** The peer has ended its side and may still be reading. */
  ended = false;
  #socket: Socket;
  readonly #events: ConnectionEvents;
  #paused = false;

  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.ip = unmappedAddress(socket.remoteAddress);
    this.port = socket.remotePort ?? 0;
    socket.setNoDelay(true);
    this.#listen(socket);
  }

  write(text: string): void {
    if (text !== '' && !this.#socket.write(text)) this.blocked = true;
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  /** Resumes reading after {@link pause}. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** True when received octets were not read yet. */
  get unread(): boolean {
    return this.#socket.readableLength > 0;
  }

  /** Begins the server side of a TLS handshake; `byName` gives the certificate for the name that the client sends. */
  encrypt(context: SecureContext, byName: (serverName: string) => SecureContext): void {
    const plain = this.#socket;
    plain.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd).off('close', this.#onClose);
    const SNICallback = sniCallback(() => context, byName);
    const socket = new TLSSocket(plain, { isServer: true, secureContext: context, SNICallback });
    this.#socket = socket;
    this.#listen(socket);
    socket.once('secure', () => {
      const protocol = socket.getProtocol();
      if (protocol === 'TLSv1.2' || protocol === 'TLSv1.3') this.#events.secured();
      else socket.destroy();
    });
  }

  /**
   * Ends our side after the pending writes. The socket keeps reading: closing it with unread octets would reset the
   * connection, and the peer would lose our last response.
   */
  end(): void {
    if (this.ended) this.#socket.destroySoon();
    else this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    socket.on('data', this.#onData).on('drain', this.#onDrain).on('end', this.#onEnd);
    socket.on('error', this.#onError).on('close', this.#onClose);
  }

  readonly #onData = (chunk: Buffer): void => this.#events.octets(chunk);

  readonly #onDrain = (): void => {
    this.blocked = false;
    this.#events.changed();
  };

  readonly #onEnd = (): void => {
    this.ended = true;
    this.#events.changed();
  };

  readonly #onError = (err: NodeJS.ErrnoException): void => this.#events.failed(err.code);

  readonly #onClose = (): void => this.#events.closed();
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export function unmappedAddress(address: string | undefined): string {
  return address?.startsWith('::ffff:') === true && address.includes('.') ? address.slice(7) : (address ?? '');
}
