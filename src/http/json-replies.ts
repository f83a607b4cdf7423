import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { REFUSALS, type Refusal } from '../core/refusal.ts';
import type { AppContext } from '../core/app-context.ts';
import { parseBounded } from '../core/json.ts';
import type { ServerResponse } from 'node:http';

/** Accepts application/json only, with bounded depth. An empty body means no arguments. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    const parsed = parseBounded(body === '' ? '{}' : String(body));
    if (parsed.ok) done(null, parsed.value);
    else done(Object.assign(new Error(parsed.problem), { statusCode: 400 }));
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, { routeOptions }, reply) => {
    const maxBytes = routeOptions.bodyLimit ?? 1_048_576;
    switch (error.statusCode ?? 500) {
      case 400:
        return sendRefusal(reply, { error: 'invalid_arguments', message: `${error.message}.` });
      case 413:
        return sendRefusal(reply, {
          error: 'too_large',
          message: `The body is larger than ${maxBytes} octets.`,
          maxBytes,
        });
      case 415:
        return sendRefusal(reply, {
          error: 'unsupported_media_type',
          message: 'Unsupported media type. Send Content-Type: application/json.',
        });
      default:
        throw error;
    }
  });
}

/** Sends a refusal: the flat error object, its status, and Retry-After. */
export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { retryAfterSeconds } = refusal;
  if (typeof retryAfterSeconds === 'number') void reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(REFUSALS[refusal.error]).send(refusal);
}

/** True if the caller, its address or the one who holds the credential, has made too many requests: the refusal is sent. */
export function isRateLimited(
  { limits, clock }: Pick<AppContext, 'limits' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  holder?: string | number,
  refuse: typeof sendRefusal = sendRefusal,
): boolean {
  void reply.header('cache-control', 'no-store');
  const wait = limits.take(request.ip, holder, clock());
  if (wait === 0) return false;
  const message = `Too many requests. Retry in ${wait} s.`;
  refuse(reply, { error: 'rate_limited', message, retryAfterSeconds: wait });
  return true;
}

/** Refuses a method, and names the methods of the path. */
export function refuseMethod(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  void reply.header('allow', methods.join(', '));
  const message = `Method not allowed. Use ${methods.join(' or ')}.`;
  return sendRefusal(reply, { error: 'method_not_allowed', message });
}

/**
 * All raw Authorization headers. Node keeps only the first of several; a proxy may use another one (request smuggling).
 */
export function authorizationOf({ raw }: FastifyRequest): string | string[] | undefined {
  const all = raw.rawHeaders.filter((_, i) => i % 2 === 1 && raw.rawHeaders[i - 1]?.toLowerCase() === 'authorization');
  return all.length > 1 ? all : all[0];
}

/** Signal that aborts when the response is closed: sent, or the client disconnected. */
export function closeSignal(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  if (response.destroyed) closed.abort();
  response.once('close', () => closed.abort());
  return closed.signal;
}
