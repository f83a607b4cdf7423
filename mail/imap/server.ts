import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { calmLog } from '../guard/calm-log.ts';
import { isLoopback } from '../guard/network.ts';
import { told } from '../guard/told.ts';
import type { Entry } from '../guard/types.ts';
import { Accounts } from './accounts.ts';
import { Announcer } from './announcer.ts';
import { capabilities } from './capabilities.ts';
import { EXTENSIONS } from './commands/index.ts';
import { realClock } from './door.ts';
import type { Door, ImapListener, ImapOptions } from './door.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { converse } from './loop.ts';
import { Session } from './session.ts';
import { attach, startTls } from './sockets.ts';
import { sweep } from './sweep.ts';

const BACKLOG = 4096;
const SWEEP_MS = 1000;
const KEEP_ALIVE_MS = 120_000;
/** How often is said that no connection can be taken. */
const TROUBLE_MS = 10_000;

/** The IMAP door while it is open. */
export interface ImapServer {
  /** Where it listens, in the order of the options. */
  addresses(): { tls: ImapListener['tls']; host: string; port: number }[];
  /** Connections open now. */
  readonly sessions: number;
  /** Looks at all sessions for what has lasted too long; otherwise done once a second. */
  sweep(): void;
  /** Stops accepting, says BYE to all when their command is over, and cuts off whoever is left after `deadlineMs`. */
  close(deadlineMs?: number): Promise<void>;
}

/** Opens the IMAP door. Rejects when it cannot listen. */
export async function startImap(options: ImapOptions): Promise<ImapServer> {
  const door = makeDoor(options);
  const servers = options.listeners.map((listener) => ({ listener, server: makeServer(door, listener) }));
  const closeAll = (): Promise<void>[] => servers.map(({ server }) => closed(server));
  try {
    for (const { listener, server } of servers) await listening(server, listener);
  } catch (error) {
    await Promise.all(closeAll());
    throw error;
  }
  const look = (): void => sweepAll(door);
  const timer = setInterval(look, SWEEP_MS).unref();
  return {
    addresses: () => servers.map(({ listener, server }) => ({ tls: listener.tls, ...addressOf(server) })),
    get sessions() {
      return door.sessions.size;
    },
    sweep: look,
    async close(deadlineMs = 5000) {
      const closing = closeAll();
      for (const session of door.sessions) session.bye('The server is going down', 'UNAVAILABLE');
      const cut = setTimeout(() => cutAll(door), deadlineMs);
      await Promise.all(closing);
      clearTimeout(cut);
      clearInterval(timer);
    },
  };
}

function makeDoor(options: ImapOptions): Door {
  const { listeners: _, limits: given, ...rest } = options;
  const limits = { ...DEFAULT_LIMITS, ...given };
  return {
    exempt: () => false,
    local: false,
    clock: realClock,
    ...rest,
    log: calmLog(rest.log),
    limits,
    extensions: EXTENSIONS,
    accounts: new Accounts({ sessionsEach: limits.sessionsEachAccount, commandsEachMinute: limits.commandsEachMinute }),
    announcer: new Announcer(),
    sessions: new Set(),
    converse: (session) => void converse(session),
  };
}

function makeServer(door: Door, listener: ImapListener): Server {
  const server = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, allowHalfOpen: false },
    (socket) => accept(door, listener, socket),
  );
  // EMFILE and the like: what cannot be accepted is dropped, and those who are connected go on.
  // This can come with every connection of a flood.
  let toldAt = -Infinity;
  server.on('error', (error) => {
    if (door.clock.now() - toldAt < TROUBLE_MS) return;
    toldAt = door.clock.now();
    door.log.error({ err: error, listener: listener.tls }, 'connections cannot be accepted');
  });
  return server;
}

function accept(door: Door, listener: ImapListener, socket: Socket): void {
  const ip = socket.remoteAddress;
  if (ip === undefined) {
    socket.destroy();
    return;
  }
  const exempt = door.exempt(ip);
  const entry = door.guard.enter('imap', ip);
  if (entry.kind !== 'in') {
    turnAway(door, listener, socket, entry);
    return;
  }
  door.meter.count('imap_connections_total', { tls: listener.tls });
  const session = new Session(door, socket, ip, { secure: door.local && isLoopback(ip), exempt });
  door.sessions.add(session);
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
    session.door.log.error({ err: error }, 'no certificate for IMAP');
    session.socket.destroy();
    session.closed();
  }
}

function turnAway(door: Door, listener: ImapListener, socket: Socket, entry: Exclude<Entry, { kind: 'in' }>): void {
  door.meter.count('imap_connections_refused_total', { reason: entry.kind });
  socket.on('error', () => {});
  if (listener.tls === 'starttls') socket.write(`* BYE [LIMIT] ${told(entry)}\r\n`);
  socket.destroySoon();
}

function greet(session: Session): void {
  session.say(`* OK [CAPABILITY ${capabilities(session)}] ${session.door.hostname} Mailstead is ready\r\n`);
  session.output.flush();
}

function sweepAll(door: Door): void {
  const now = door.clock.now();
  for (const session of door.sessions) sweep(session, now);
  door.meter.gauge('imap_sessions', door.sessions.size);
}

function cutAll(door: Door): void {
  for (const session of door.sessions) session.socket.destroy();
}

function listening(server: Server, { host, port }: ImapListener): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // `::` alone would take IPv4 too, and stand in the way of 0.0.0.0 on the same port.
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
