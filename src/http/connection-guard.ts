import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Guard } from '../../mail/guard/guard.ts';
import type { LoginKey } from '../../mail/guard/types.ts';
import { refusalText } from '../../mail/guard/refusal-text.ts';
import type { Log, Meter } from '../../mail/log.ts';

/** Dependencies of the connection guard. */
interface GuardedServer {
  guard: Guard;
  metrics: Meter;
  log: Log;
  clock: () => number;
}

/** One counted connection: by its network, and by its account once it has logged in. */
class CountedConnection {
  readonly #guard: Guard;
  readonly #ip: string;
  #account: LoginKey | undefined;

  constructor(guard: Guard, ip: string) {
    this.#guard = guard;
    this.#ip = ip;
  }

  logIn(account: LoginKey): void {
    if (this.#account === undefined && this.#guard.logIn('http', this.#ip, account)) this.#account = account;
  }

  leave(): void {
    this.#guard.leave('http', this.#ip, this.#account);
  }
}

/** Open connections by their addresses, which the socket below TLS and that of requests share. */
const counted = new Map<string, CountedConnection>();

/** Counts the connection of a request by its account from now on; the first login of a connection counts. */
export function countByAccount({ socket }: IncomingMessage, account: LoginKey): void {
  counted.get(addressesOf(socket))?.logIn(account);
}

function addressesOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}

/** Paths of other software that vulnerability scanners request. */
const SCAN_PATHS =
  /\.(?:php\d?|phtml|aspx?|jspx?|cgi|env|git|svn|ht(?:access|passwd)|sql|bak)(?:$|[./~_-])|^\/(?:wp-|wordpress|phpmyadmin|cgi-bin|boaform|hnap1|vendor\/|actuator|solr|\.aws|\.ssh)/i;

/**
 * True if the path is probed by vulnerability scanners. `site` is Sec-Fetch-Site: requests that another site triggered in
 * a visitor's browser do not count, or that site could get the visitor banned.
 */
export function isVulnerabilityScan(path: string, site: string | string[] | undefined): boolean {
  return SCAN_PATHS.test(path) && site !== 'cross-site' && site !== 'same-site';
}

/** Enforces connection limits and bans of a listener, before requests are parsed. */
export function guardConnections(
  app: FastifyInstance,
  tls: boolean,
  { guard, metrics, log, clock }: GuardedServer,
): void {
  app.server.on('connection', (socket: Socket) => {
    const ip = socket.remoteAddress;
    if (ip === undefined) return;
    const entry = guard.enter('http', ip);
    if (entry.kind === 'in') {
      const connection = new CountedConnection(guard, ip);
      const addresses = addressesOf(socket);
      counted.set(addresses, connection);
      socket.once('close', () => {
        counted.delete(addresses);
        connection.leave();
      });
      return;
    }
    metrics.count('http_connections_refused_total', { reason: entry.kind });
    refuse(socket, tls, refusalText(entry));
  });
  app.server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const offence = offenceOf(error.code ?? '');
    if (offence !== undefined) guard.addOffence(socket.remoteAddress ?? '', offence);
  });
  logAcceptErrors(app, log, clock);
  // Bans are checked per request too: behind a proxy the client address is known only here.
  app.addHook('onRequest', (request, reply, done) => {
    const ban = guard.banned(request.ip);
    if (ban === undefined) return done();
    const seconds = Math.max(1, Math.ceil((ban.until - clock()) / 1000));
    const message = `${refusalText({ kind: 'banned', ban })}.`;
    void reply
      .code(403)
      .header('retry-after', String(seconds))
      .header('connection', 'close')
      .send({ error: 'banned', message, retryAfterSeconds: seconds });
  });
}

function offenceOf(code: string): 'scans' | 'loitering' | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'loitering';
  return code.startsWith('HPE_') ? 'scans' : undefined;
}

function refuse(socket: Socket, tls: boolean, text: string): void {
  socket.on('error', () => undefined);
  if (tls) return void socket.destroy();
  const body = JSON.stringify({ error: 'rate_limited', message: `${text}.` });
  const head = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  socket.write(`${head}\r\nretry-after: 60\r\nconnection: close\r\n\r\n${body}`);
  socket.destroySoon();
}

const LOG_INTERVAL_MS = 10_000;

/** Logs accept errors, such as EMFILE. Without a handler they would end the process. */
function logAcceptErrors(app: FastifyInstance, log: Log, clock: () => number): void {
  let loggedAt = -Infinity;
  app.server.on('error', (error) => {
    if (clock() - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = clock();
    log.error({ err: error }, 'failed to accept connections');
  });
}
