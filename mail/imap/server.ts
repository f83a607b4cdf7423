import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { rateLimitedLog } from '../limits/rate-limited-log.ts';
import { isLoopback } from '../guard/network.ts';
import { refusalText } from '../guard/refusal-text.ts';
import type { ConnectionDecision } from '../guard/types.ts';
import { AccountSessions } from './account-sessions.ts';
import { IdleNotifier } from './idle-notifier.ts';
import { capabilities } from './capabilities.ts';
import { COMMAND_CAPABILITIES } from './commands/index.ts';
import { realClock } from './options.ts';
import type { ImapListener, ImapOptions } from './options.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { runSession } from './loop.ts';
import { Session } from './session.ts';
import { attach, startTls } from './sockets.ts';
import { sweep } from './sweep.ts';
import type { ImapContext } from './session.ts';

const BACKLOG = 4096;
const SWEEP_MS = 1000;
const KEEP_ALIVE_MS = 120_000;
/** Interval of the log line about failed accepts. */
const ACCEPT_ERROR_LOG_MS = 10_000;

/** A running IMAP server. */
export interface ImapServer {
  /** Listening addresses, in the order of the options. */
  addresses(): { tls: ImapListener['tls']; host: string; port: number }[];
  /** Open connections. */
  readonly sessions: number;
  /** Applies the timeouts to all sessions; a timer calls it once a second. */
  sweep(): void;
  /** Stops accepting, sends BYE to each session after its command, and destroys what is open after `deadlineMs`. */
  close(deadlineMs?: number): Promise<void>;
}

/** Starts the IMAP server. Rejects when it cannot listen. */
export async function startImap(options: ImapOptions): Promise<ImapServer> {
  const context = createContext(options);
  const servers = options.listeners.map((listener) => ({ listener, server: createListener(context, listener) }));
  const closeAll = (): Promise<void>[] => servers.map(({ server }) => closed(server));
  try {
    for (const { listener, server } of servers) await listening(server, listener);
  } catch (error) {
    await Promise.all(closeAll());
    throw error;
  }
  const sweepSessions = (): void => sweepAll(context);
  const timer = setInterval(sweepSessions, SWEEP_MS).unref();
  return {
    addresses: () => servers.map(({ listener, server }) => ({ tls: listener.tls, ...addressOf(server) })),
    get sessions() {
      return context.sessions.size;
    },
    sweep: sweepSessions,
    async close(deadlineMs = 5000) {
      const closing = closeAll();
      for (const session of context.sessions) session.bye('The server is shutting down', 'UNAVAILABLE');
      const cut = setTimeout(() => destroyAll(context), deadlineMs);
      await Promise.all(closing);
      clearTimeout(cut);
      clearInterval(timer);
    },
  };
}

function createContext(options: ImapOptions): ImapContext {
  const { listeners: _, limits: given, ...rest } = options;
  const limits = { ...DEFAULT_LIMITS, ...given };
  return {
    exempt: () => false,
    local: false,
    uidOnly: false,
    jmapUrl: () => undefined,
    clock: realClock,
    memory: new MemoryBudget(Infinity),
    ...rest,
    log: rateLimitedLog(rest.log),
    limits,
    extensions: COMMAND_CAPABILITIES,
    accounts: new AccountSessions({
      sessionsEach: limits.sessionsEachAccount,
      commandsEachMinute: limits.commandsEachMinute,
    }),
    idleNotifier: new IdleNotifier(),
    sessions: new Set(),
    run: (session) => void runSession(session),
  };
}

function createListener(context: ImapContext, listener: ImapListener): Server {
  const server = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, allowHalfOpen: false },
    (socket) => accept(context, listener, socket),
  );
  // EMFILE and the like: the connection is dropped, open ones continue. A flood can cause one error per connection.
  let loggedAt = -Infinity;
  server.on('error', (error) => {
    if (context.clock.now() - loggedAt < ACCEPT_ERROR_LOG_MS) return;
    loggedAt = context.clock.now();
    context.log.error({ err: error, listener: listener.tls }, 'failed to accept IMAP connections');
  });
  return server;
}

function accept(context: ImapContext, listener: ImapListener, socket: Socket): void {
  const ip = socket.remoteAddress;
  if (ip === undefined) {
    socket.destroy();
    return;
  }
  const exempt = context.exempt(ip);
  const decision = context.guard.enter('imap', ip);
  if (decision.kind !== 'in') {
    refuseConnection(context, listener, socket, decision);
    return;
  }
  context.meter.count('imap_connections_total', { tls: listener.tls });
  const session = new Session(context, socket, ip, { secure: context.local && isLoopback(ip), exempt });
  context.sessions.add(session);
  if (listener.tls === 'starttls') {
    attach(session);
    greet(session);
  } else {
    beginTls(session);
  }
}

function beginTls(session: Session): void {
  try {
    startTls(session, () => greet(session));
  } catch (error) {
    session.context.log.error({ err: error }, 'failed to start TLS for IMAP: no certificate');
    session.socket.destroy();
    session.onClose();
  }
}

function refuseConnection(
  context: ImapContext,
  listener: ImapListener,
  socket: Socket,
  decision: Exclude<ConnectionDecision, { kind: 'in' }>,
): void {
  context.meter.count('imap_connections_refused_total', { reason: decision.kind });
  socket.on('error', () => {});
  if (listener.tls === 'starttls') socket.write(`* BYE [LIMIT] ${refusalText(decision)}\r\n`);
  socket.destroySoon();
}

function greet(session: Session): void {
  session.write(`* OK [CAPABILITY ${capabilities(session)}] ${session.context.hostname} Mailstead is ready\r\n`);
  session.output.flush();
}

function sweepAll(context: ImapContext): void {
  const now = context.clock.now();
  for (const session of context.sessions) sweep(session, now);
  context.meter.gauge('imap_sessions', context.sessions.size);
}

function destroyAll(context: ImapContext): void {
  for (const session of context.sessions) session.socket.destroy();
}

function listening(server: Server, { host, port }: ImapListener): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Without ipv6Only, `::` would bind IPv4 too and conflict with 0.0.0.0 on the same port.
    server.listen({ host, port, backlog: BACKLOG, ipv6Only: true }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function addressOf(server: Server): { host: string; port: number } {
  const { address, port } = server.address() as AddressInfo;
  return { host: address, port };
}
