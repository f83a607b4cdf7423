import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type JmapRequest, readRequest } from '../../mail/jmap/core/request.ts';
import { sessionObject } from '../../mail/jmap/core/session-object.ts';
import { withSharedAccounts } from '../../mail/jmap/core/shared-accounts.ts';
import type { ApiContext } from './api-route.ts';
import {
  holdUntilClosed,
  type JmapCaller,
  openMemory,
  originOf,
  refuseRequest,
  SILENCE_MS,
  withCaller,
} from './http-exchange.ts';
import { runJmapRequest } from './request-loader.ts';

/** First reads of a page: more values for its response, and the method calls of requests that it would send. */
export interface PageReads {
  more: Readonly<Record<string, unknown>>;
  requests: readonly (readonly [string, object, string][])[];
}

/** Chooses the first reads of a page. */
export type FirstReadsOf = (caller: JmapCaller, request: FastifyRequest) => Promise<PageReads>;

/** Methods that a GET may run: they change nothing. */
const READS = /\/(?:get|query)$/;

/**
 * `GET /mail/jmap/first`: the session and the answers to the first requests of a page, in one response. A document can name it,
 * so that a browser asks for it before the scripts of the page run. The requests are those of {@link FirstReadsOf}, one after
 * the other, and count as one.
 */
export function firstRoute(
  { context, jmap, requests, known }: ApiContext,
  readsOf: FirstReadsOf,
  app: FastifyInstance,
): void {
  const run = withCaller(context, async (caller, request, reply) => {
    const { session } = caller;
    const permit = await requests.take(session);
    if (permit === undefined) return refuseRequest(reply, requests.refusal());
    const memory = openMemory(context, session, request.ip);
    using _held = holdUntilClosed(reply, [permit, memory]);
    const { more, requests: groups } = await readsOf(caller, request);
    const answers = [];
    for (const methodCalls of groups) {
      const read = readsOnly(readRequest({ using: [...known], methodCalls }, known, jmap.limits));
      const { methodResponses } = await runJmapRequest(jmap, session, read, memory, () => reply.raw.closed);
      answers.push({ methodCalls, methodResponses });
    }
    const found = sessionObject(jmap, await withSharedAccounts(context.store, session), originOf(request));
    // A client that does not read would keep the permit and the memory.
    request.raw.socket.setTimeout(SILENCE_MS);
    return sendFirst(reply, { ...more, session: found, answers });
  });
  app.get('/jmap/first', run);
}

function readsOnly(request: JmapRequest): JmapRequest {
  const change = request.methodCalls.find(([name]) => !READS.test(name));
  if (change !== undefined) throw new Error(`${change[0]} is not a read, and a GET changes nothing.`);
  return request;
}

function sendFirst(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json').send(JSON.stringify(body));
}
