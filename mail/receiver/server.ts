import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { isLoopback } from '../guard/network.ts';
import { refusalText } from '../guard/refusal-text.ts';
import type { ConnectionDecision } from '../guard/types.ts';
import { formatReply, reply } from '../smtp/reply.ts';
import { unmappedAddress } from './connection.ts';
import {
  defaultLimits,
  systemClock,
  type ReceiverOptions,
  type ResolvedReceiverOptions,
  type SmtpListener,
} from './options.ts';
import { SmtpSession } from './session.ts';

const SWEEP_MS = 1000;
/** Wait for the close events of destroyed sockets, which come a turn later. */
const DESTROY_MS = 1000;
/** Connections queued by the kernel: more than all that are accepted, so that a flood is answered and not dropped. */
const BACKLOG = 4096;

/** Opens all listeners. Rejects when one cannot be opened, and then closes the others. */
export async function startSmtpServer(options: ReceiverOptions): Promise<SmtpServer> {
  const server = new SmtpServer({
    ...options,
    limits: { ...defaultLimits, ...options.limits },
    clock: options.clock ?? systemClock,
  });
  try {
    for (const listener of options.listeners) await server.open(listener);
  } catch (err) {
    await server.close();
    throw err;
  }
  return server;
}

/** Accepts connections on all listeners and ends their sessions. */
export class SmtpServer implements AsyncDisposable {
  readonly #options: ResolvedReceiverOptions;
  readonly #servers: { server: Server; listener: SmtpListener }[] = [];
  readonly #sessions = new Set<SmtpSession>();
  readonly #timer: NodeJS.Timeout;
  #onEmpty: (() => void) | undefined;
  #failedAt = -Infinity;

  constructor(options: ResolvedReceiverOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /** Open sessions. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** Listeners in the order of the options, with their actual ports. */
  addresses(): readonly SmtpListener[] {
    return this.#servers.map(({ server, listener }) => ({ ...listener, port: (server.address() as AddressInfo).port }));
  }

  async open(listener: SmtpListener): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket, listener));
    const { host, port } = listener;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Without ipv6Only, `::` takes IPv4 too and conflicts with 0.0.0.0 on the same port.
      server.listen({ host, port, backlog: BACKLOG, ipv6Only: true }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    server.on('error', (err) => this.#logAcceptError(err));
    this.#servers.push({ server, listener });
  }

  /** Ends sessions that are over a deadline. Runs once a second. */
  sweep(): void {
    const now = this.#options.clock.monotonic();
    const stressed = this.#options.guard.utilization('smtp') > this.#options.limits.stress;
    for (const session of this.#sessions) session.sweep(now, stressed);
  }

  /** Stops accepting, ends idle sessions, and resolves when messages in transfer are complete or the time is over. */
  async close(): Promise<void> {
    for (const { server } of this.#servers) server.close();
    for (const session of this.#sessions) session.shutDown();
    this.#options.backend.close?.();
    await this.#waitForSessions(this.#options.limits.closeMs);
    for (const session of this.#sessions) session.peer.destroy();
    await this.#waitForSessions(DESTROY_MS);
    clearInterval(this.#timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(socket: Socket, listener: SmtpListener): void {
    const { service } = listener;
    const { meter, guard } = this.#options;
    const ip = unmappedAddress(socket.remoteAddress);
    const secure = this.#options.local && isLoopback(ip);
    const trusted = secure || this.#options.exempt(ip);
    if (ip === '') return void socket.destroy(); // closed already
    const entry = guard.enter('smtp', ip);
    if (entry.kind !== 'in') {
      meter.count('smtp_connections_refused_total', { service, reason: entry.kind });
      return refuseConnection(socket, listener, entry);
    }
    meter.count('smtp_connections_total', { service });
    if (service === 'mx') this.#options.connected?.(ip, unmappedAddress(socket.localAddress));
    const session = new SmtpSession(socket, service, this.#options, { trusted, secure }, (one) => this.#remove(one));
    this.#sessions.add(session);
    meter.gauge('smtp_sessions', this.#sessions.size);
    this.#start(session, socket, listener);
  }

  #start(session: SmtpSession, socket: Socket, { tls }: SmtpListener): void {
    if (tls === 'starttls') return session.start(undefined);
    let context: SecureContext;
    try {
      context = this.#options.secureContext();
    } catch (err) {
      this.#options.log.error({ err }, 'failed to load certificate for implicit TLS');
      return void socket.destroy();
    }
    session.start(context);
  }

  #remove(session: SmtpSession): void {
    this.#sessions.delete(session);
    this.#options.guard.leave('smtp', session.peer.ip, session.countedAccount);
    this.#options.meter.gauge('smtp_sessions', this.#sessions.size);
    if (this.#sessions.size === 0) this.#onEmpty?.();
  }

  async #waitForSessions(ms: number): Promise<void> {
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Logs at most every ten seconds: without free file descriptors, libuv reports every connection. */
  #logAcceptError(err: Error): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#failedAt < 10_000) return;
    this.#failedAt = now;
    this.#options.log.error({ err }, 'failed to accept connections');
  }
}

/**
 * Refuses a connection, with the reason where that needs no handshake. The code is temporary also for banned networks: a
 * mail server retries after the ban, and its mail is not lost.
 */
function refuseConnection(
  socket: Socket,
  { tls }: SmtpListener,
  entry: Exclude<ConnectionDecision, { kind: 'in' }>,
): void {
  socket.on('error', () => {});
  if (tls === 'implicit') return void socket.destroy();
  socket.write(formatReply(reply(421, '4.7.0', refusalText(entry))));
  socket.destroySoon();
}
