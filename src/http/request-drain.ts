import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Longest time that requests have to end when the server stops, ms. */
const DRAIN_MS = 5_000;
const CHECK_MS = 10;

/**
 * Answers the requests under way before the connections are closed: calls that wait are woken by the stop, and read from the
 * database before they answer, which takes round trips on PostgreSQL. Cuts event streams and downloads.
 */
export function drainRequests(app: FastifyInstance): void {
  const open = new Set<ServerResponse>();
  app.addHook('onRequest', (_request, { raw }, done) => {
    open.add(raw);
    raw.once('close', () => open.delete(raw));
    done();
  });
  // New requests get 503 by then.
  app.addHook('preClose', async () => {
    const late = performance.now() + DRAIN_MS;
    while ([...open].some(isPending) && performance.now() < late) await delay(CHECK_MS);
  });
}

/** Not begun, or ended and not yet written to the socket. */
function isPending({ headersSent, writableEnded }: ServerResponse): boolean {
  return !headersSent || writableEnded;
}
