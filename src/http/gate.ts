import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Guard } from '../../mail/guard/guard.ts';
import { told } from '../../mail/guard/told.ts';
import type { Log, Meter } from '../../mail/log.ts';

/** What listens behind the gate. */
interface Gated {
  guard: Guard;
  metrics: Meter;
  log: Log;
  clock: () => number;
}

/** Parts of programs that are not here: who asks for them looks for holes. */
const HOLES =
  /\.(?:php\d?|phtml|aspx?|jspx?|cgi|env|git|svn|ht(?:access|passwd)|sql|bak)(?:$|[./~_-])|^\/(?:wp-|wordpress|phpmyadmin|cgi-bin|boaform|hnap1|vendor\/|actuator|solr|\.aws|\.ssh)/i;

/**
 * Whether somebody only asks for this to find out what can be broken into. `site` is the field Sec-Fetch-Site: a page of
 * another site can make the browser of any visitor ask for anything, and the visitor is not who looks.
 */
export function looksForHoles(path: string, site: string | string[] | undefined): boolean {
  return HOLES.test(path) && site !== 'cross-site' && site !== 'same-site';
}

/** Counts the connections of a listener, and answers who is shut out before anything is looked at. */
export function gate(app: FastifyInstance, tls: boolean, { guard, metrics, log, clock }: Gated): void {
  app.server.on('connection', (socket: Socket) => {
    const ip = socket.remoteAddress;
    if (ip === undefined) return;
    const entry = guard.enter('http', ip);
    if (entry.kind === 'in') {
      socket.once('close', () => guard.leave('http', ip));
      return;
    }
    metrics.count('http_connections_refused_total', { reason: entry.kind });
    refuse(socket, tls, told(entry));
  });
  app.server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const offence = offenceOf(error.code ?? '');
    if (offence !== undefined) guard.offended(socket.remoteAddress ?? '', offence);
  });
  tellTrouble(app, log, clock);
  // At the request: who is behind a proxy is known only here, and only here it can be said in words.
  app.addHook('onRequest', async (request, reply) => {
    const ban = guard.banned(request.ip);
    if (ban === undefined) return undefined;
    const seconds = Math.max(1, Math.ceil((ban.until - clock()) / 1000));
    const message = `${told({ kind: 'banned', ban })}.`;
    return reply
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

const QUIET_MS = 10_000;

/** Out of file descriptors: a listener without somebody who hears of it would end the process. */
function tellTrouble(app: FastifyInstance, log: Log, clock: () => number): void {
  let toldAt = -Infinity;
  app.server.on('error', (error) => {
    if (clock() - toldAt < QUIET_MS) return;
    toldAt = clock();
    log.error({ err: error }, 'connections cannot be accepted');
  });
}
