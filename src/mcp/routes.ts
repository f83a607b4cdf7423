import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorizationOf } from '../http/answers.ts';
import { goneSignal } from '../http/gone.ts';
import type { World } from '../operations/world.ts';
import { type McpAnswer, type McpStream, rpcError } from './answer.ts';
import { McpDoor } from './door.ts';
import { catalogueOffer, type Offer } from './offer.ts';
import { meansThisBox } from './places.ts';
import { notAllowed } from './refusals.ts';
import { SESSION_HEADER } from './sessions.ts';

const MOST_BYTES = 4 * 1024 * 1024;
const ALLOWED_HEADERS =
  'authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, x-service-toolsets, x-service-tools, x-service-readonly, x-service-hide-unavailable';

/** `{base_url}/mcp`: every method and also `/mcp/`, so that no answer of another shape is ever given there. */
export function mcpRoutes(world: World, offer: Offer = catalogueOffer(world)): (app: FastifyInstance) => void {
  const door = new McpDoor(world, offer);
  return (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MOST_BYTES }, (_request, body, done) =>
      done(null, body),
    );
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
      answer(reply, failure(world, error)),
    );
    app.addHook('onClose', () => door.close());
    for (const url of ['/mcp', '/mcp/']) {
      app.route({
        method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        url,
        exposeHeadRoute: false,
        bodyLimit: MOST_BYTES,
        handler: (request, reply) => handle(world, door, request, reply),
      });
    }
  };
}

async function handle(
  world: World,
  door: McpDoor,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { origin, host } = request.headers;
  void reply.header('cache-control', 'no-store');
  if (!meansThisBox(world, { host, origin })) {
    return answer(
      reply,
      rpcError(null, 403, 'forbidden: Host or Origin is not of this box', {
        status: 403,
        data: { error: 'forbidden' },
      }),
    );
  }
  if (origin !== undefined) {
    void reply.header('access-control-allow-origin', origin).header('vary', 'origin');
    void reply.header('access-control-expose-headers', 'mcp-session-id, www-authenticate, retry-after');
  }
  switch (request.method) {
    case 'OPTIONS':
      void reply
        .header('access-control-allow-methods', 'POST, DELETE')
        .header('access-control-allow-headers', ALLOWED_HEADERS);
      return reply.code(204).header('allow', 'POST, DELETE, OPTIONS').send();
    case 'POST':
      return answer(reply, await post(door, request, reply));
    case 'DELETE':
      return answer(reply, await door.delete(one(request.headers, SESSION_HEADER)));
    default:
      return answer(reply, notAllowed());
  }
}

async function post(
  door: McpDoor,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<McpAnswer | McpStream | Response> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    return rpcError(null, 415, 'Send JSON: Content-Type: application/json', {
      status: 415,
      data: { error: 'unsupported_media_type' },
    });
  }
  const { headers, ip, body } = request;
  return door.post({
    url: new URL(request.url, 'http://mcp.invalid'),
    ip,
    // Of the headers alone: the library keeps its requests until the next full collection, and what hangs on them.
    header: (name) => one(headers, name),
    authorization: authorizationOf(request),
    body: typeof body === 'string' ? body : '',
    gone: () => goneSignal(reply.raw),
  });
}

function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function failure(world: World, error: Error & { statusCode?: number }): McpAnswer {
  if (error.statusCode === 413) {
    return rpcError(null, 413, `The body is larger than ${MOST_BYTES} octets`, {
      status: 413,
      data: { error: 'too_large', maxBytes: MOST_BYTES },
    });
  }
  const status = error.statusCode ?? 500;
  if (status >= 500) world.log.error({ err: error }, 'an MCP request failed');
  return rpcError(
    null,
    status >= 500 ? -32603 : -32600,
    status >= 500 ? 'Something went wrong here; it was logged' : 'Bad request',
    {
      status,
    },
  );
}

async function answer(reply: FastifyReply, what: McpAnswer | McpStream | Response): Promise<FastifyReply> {
  if ('events' in what) return reply.code(what.status).headers(what.headers).send(what.events);
  if (!(what instanceof Response)) return reply.code(what.status).headers(what.headers).send(what.body);
  void reply.code(what.status);
  for (const [name, value] of what.headers) void reply.header(name, value);
  void reply.header('cache-control', 'no-store');
  if (what.body === null) return reply.send();
  const streamed = what.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return reply.send(streamed ? what.body : await what.text());
}
