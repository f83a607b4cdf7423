import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestError } from '../../mail/jmap/errors.ts';
import type { JmapAuthenticated } from './authenticate.ts';

/** Any page may ask: nothing is answered to it without a credential that it holds itself. RFC 8620 asks for no more. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, range, last-event-id',
  'access-control-expose-headers': 'content-range, retry-after',
  'access-control-max-age': '86400',
} as const;

/** Problem details, RFC 7807. `type` is a URN of RFC 8620 3.6.1, or about:blank. */
export function problem(reply: FastifyReply, status: number, detail: string, type = 'about:blank'): FastifyReply {
  return reply.code(status).type('application/problem+json').send(JSON.stringify({ type, status, detail }));
}

/** A request that is refused as a whole. */
export function refuseRequest(reply: FastifyReply, error: RequestError): FastifyReply {
  return reply.code(400).type('application/problem+json').send(JSON.stringify(error.toProblem()));
}

/** Nobody, or not now. Browsers are not asked to open their own dialogue: the page that asked knows better. */
export function refuseCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Extract<JmapAuthenticated, { kind: 'refused' }>,
): FastifyReply {
  if (refusal.status === 401 && request.headers['sec-fetch-site'] === undefined) {
    void reply.header('www-authenticate', 'Basic realm="Mailstead", charset="UTF-8", Bearer realm="Mailstead"');
  }
  if (refusal.retryAfter !== undefined) void reply.header('retry-after', String(refusal.retryAfter));
  return problem(reply, refusal.status, `${refusal.why[0]?.toUpperCase() ?? ''}${refusal.why.slice(1)}.`);
}
