import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { REFUSALS, type Refusal } from '../operations/refusal.ts';
import { parseBounded } from './json.ts';

/** Only application/json, and only within bounds; an empty body is no arguments. */
export function jsonOnly(app: FastifyInstance): void {
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
        return say(reply, { error: 'invalid_arguments', message: `${error.message}.` });
      case 413:
        return say(reply, { error: 'too_large', message: `The body is larger than ${maxBytes} octets.`, maxBytes });
      case 415:
        return reply
          .code(415)
          .send({ error: 'invalid_arguments', message: 'Send JSON: Content-Type: application/json.' });
      default:
        throw error;
    }
  });
}

/** A refusal as REST says it: the flat object, its status, and when to come back. */
export function say(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { retryAfterSeconds } = refusal;
  if (typeof retryAfterSeconds === 'number') void reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(REFUSALS[refusal.error]).send(refusal);
}

/**
 * The Authorization header as it was really sent: Node keeps the first of several, and which one another reader would
 * take is what a smuggler counts on.
 */
export function authorizationOf({ raw }: FastifyRequest): string | string[] | undefined {
  const all = raw.rawHeaders.filter((_, i) => i % 2 === 1 && raw.rawHeaders[i - 1]?.toLowerCase() === 'authorization');
  return all.length > 1 ? all : all[0];
}
