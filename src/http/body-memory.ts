import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../mail/guard/network.ts';
import type { MemoryBudget } from '../../mail/limits/memory-budget.ts';

/** Bodies and answers of fewer octets are not counted: the number of connections bounds them. */
const MIN_COUNTED = 64 * 1024;
/** Memory of a body while it is parsed, in octets for each of its own: text, JSON values and what is made of them. */
const PARSED = 3;

/**
 * Counts the bodies of requests and the answers that wait for their readers, by the address. Without memory for a body the
 * request is refused with 503.
 */
export function boundBodies(app: FastifyInstance, memory: MemoryBudget): void {
  app.addHook('onRequest', (request, reply, done) => {
    const octets = bodyOctets(request);
    if (octets <= MIN_COUNTED) return done();
    const reservation = memory.open([networkOf(request.ip)]);
    reply.raw.once('close', () => reservation[Symbol.dispose]());
    if (reservation.tryGrow(octets * PARSED)) return done();
    const message = 'The server has no memory left for a body of this size. Try again later.';
    void reply
      .code(503)
      .header('retry-after', '5')
      .header('connection', 'close')
      .send({ error: 'unavailable', message, retryAfterSeconds: 5 });
  });
  // With a callback: after an asynchronous hook each handler waits for the end of its response.
  app.addHook('onSend', (request, reply, payload, done) => {
    countAnswer(memory, request, reply, payload);
    done();
  });
}

/** Counts an answer until its connection has taken it. */
function countAnswer(memory: MemoryBudget, request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const octets = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
  // A client that is gone has no address, and no further close follows.
  if (octets <= MIN_COUNTED || reply.raw.closed) return;
  const reservation = memory.open([networkOf(request.ip)]);
  // An answer that is made already is sent in any case; what it holds counts for those that follow.
  if (reservation.tryGrow(octets)) reply.raw.once('close', () => reservation[Symbol.dispose]());
}

/** Octets of the body that the route holds in memory; 0 for a route that reads it as a stream. */
function bodyOctets({ headers, routeOptions }: FastifyRequest): number {
  const { bodyLimit } = routeOptions;
  if (bodyLimit === Number.MAX_SAFE_INTEGER) return 0;
  const length = headers['content-length'];
  if (length !== undefined) return Math.min(Number(length), bodyLimit);
  return headers['transfer-encoding'] === undefined ? 0 : bodyLimit;
}
