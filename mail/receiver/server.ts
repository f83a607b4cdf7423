import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { isLoopback } from '../guard/network.ts';
import { told } from '../guard/told.ts';
import type { Entry } from '../guard/types.ts';
import { formatReply, reply } from '../smtp/reply.ts';
import { plainAddress } from './connection.ts';
import { defaultLimits, systemClock, type Listener, type ReceiverOptions, type Settled } from './options.ts';
import { Session } from './session.ts';

/** Where a listener can be reached. */
export interface ListenerAddress extends Listener {
  port: number;
}

/** The SMTP door, open. */
export interface Receiver extends AsyncDisposable {
  /** In the order of the options, with the ports that were taken. */
  addresses(): readonly ListenerAddress[];
  /** Open sessions. */
  readonly sessions: number;
  /** Ends sessions that are over a deadline; runs once a second by itself. */
  sweep(): void;
  /** Stops accepting, sends idle sessions away, and resolves when messages under way are done or the time is up. */
  close(): Promise<void>;
}

const SWEEP_MS = 1000;
/** A destroyed socket tells so a turn later, and a second is long for that. */
const DESTROY_MS = 1000;
/** Connections that the kernel holds for us; more than all that are let in, so that a flood is answered and not lost. */
const BACKLOG = 4096;

/** Opens every listener, or rejects when one cannot be opened (and then none is). */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const settled: Settled = {
    ...options,
    limits: { ...defaultLimits, ...options.limits },
    clock: options.clock ?? systemClock,
  };
  const hall = new Hall(settled);
  try {
    for (const listener of options.listeners) await hall.open(listener);
  } catch (err) {
    await hall.close();
    throw err;
  }
  return hall;
}

class Hall implements Receiver {
  readonly #settled: Settled;
  readonly #servers: { server: Server; listener: Listener }[] = [];
  readonly #sessions = new Set<Session>();
  readonly #timer: NodeJS.Timeout;
  #emptied: (() => void) | undefined;
  #troubleAt = -Infinity;

  constructor(settled: Settled) {
    this.#settled = settled;
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  addresses(): readonly ListenerAddress[] {
    return this.#servers.map(({ server, listener }) => ({ ...listener, port: (server.address() as AddressInfo).port }));
  }

  async open(listener: Listener): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket, listener));
    const { host, port } = listener;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // `::` alone would take IPv4 too, and stand in the way of 0.0.0.0 on the same port.
      server.listen({ host, port, backlog: BACKLOG, ipv6Only: true }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    server.on('error', (err) => this.#trouble(err));
    this.#servers.push({ server, listener });
  }

  sweep(): void {
    const now = this.#settled.clock.monotonic();
    const stressed = this.#settled.guard.taken('smtp') > this.#settled.limits.stress;
    for (const session of this.#sessions) session.sweep(now, stressed);
  }

  async close(): Promise<void> {
    for (const { server } of this.#servers) server.close();
    for (const session of this.#sessions) session.leave();
    this.#settled.intake.close?.();
    await this.#empty(this.#settled.limits.closeMs);
    for (const session of this.#sessions) session.peer.destroy();
    await this.#empty(DESTROY_MS);
    clearInterval(this.#timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(socket: Socket, listener: Listener): void {
    const { door } = listener;
    const { meter } = this.#settled;
    const ip = plainAddress(socket.remoteAddress);
    const secure = this.#settled.local && isLoopback(ip);
    const trusted = secure || this.#settled.exempt(ip);
    if (ip === '') return void socket.destroy(); // gone already
    const entry = this.#settled.guard.enter('smtp', ip);
    if (entry.kind !== 'in') {
      meter.count('smtp_connections_refused_total', { door, reason: entry.kind });
      return refuse(socket, listener, entry);
    }
    meter.count('smtp_connections_total', { door });
    const session = new Session(socket, door, this.#settled, { trusted, secure }, (gone) => this.#left(gone));
    this.#sessions.add(session);
    meter.gauge('smtp_sessions', this.#sessions.size);
    this.#begin(session, socket, listener);
  }

  #begin(session: Session, socket: Socket, { tls }: Listener): void {
    if (tls === 'starttls') return session.start(undefined);
    let context: SecureContext;
    try {
      context = this.#settled.secureContext();
    } catch (err) {
      this.#settled.log.error({ err }, 'no certificate for implicit TLS');
      return void socket.destroy();
    }
    session.start(context);
  }

  #left(session: Session): void {
    this.#sessions.delete(session);
    this.#settled.guard.leave('smtp', session.peer.ip);
    this.#settled.meter.gauge('smtp_sessions', this.#sessions.size);
    if (this.#sessions.size === 0) this.#emptied?.();
  }

  async #empty(ms: number): Promise<void> {
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#emptied = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Out of file descriptors: libuv takes and drops the connection, so this can come very often. */
  #trouble(err: Error): void {
    const now = this.#settled.clock.monotonic();
    if (now - this.#troubleAt < 10_000) return;
    this.#troubleAt = now;
    this.#settled.log.error({ err }, 'connections cannot be accepted');
  }
}

/**
 * Says why not, where that can be said without a handshake, and forgets the socket. "Later" also to who is banned: a mail
 * server comes back when the ban is over, and its mail is not lost.
 */
function refuse(socket: Socket, { tls }: Listener, entry: Exclude<Entry, { kind: 'in' }>): void {
  socket.on('error', () => {});
  if (tls === 'implicit') return void socket.destroy();
  socket.write(formatReply(reply(421, '4.7.0', told(entry))));
  socket.destroySoon();
}
