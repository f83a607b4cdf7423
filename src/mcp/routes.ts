import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { countByAccount } from '../http/connection-guard.ts';
import { authorizationOf, closeSignal } from '../http/json-replies.ts';
import type { AppContext } from '../core/app-context.ts';
import { type McpResponse, type McpStream, rpcError, notAllowed } from './rpc-response.ts';
import { McpEndpoint } from './endpoint.ts';
import { catalogueOffer, type Offer } from './offer.ts';
import { SESSION_HEADER } from './sessions.ts';
import { isLoopback } from '../../mail/guard/network.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const ALLOWED_HEADERS =
  'authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, x-service-toolsets, x-service-tools, x-service-readonly';

/** `{base_url}/mcp` and `/mcp/`, every method, so that all responses are JSON-RPC. */
export function mcpRoutes(context: AppContext, offer: Offer = catalogueOffer(context)): (app: FastifyInstance) => void {
  const endpoint = new McpEndpoint(context, offer);
  return (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
      done(null, body),
    );
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
      answer(reply, failure(context, error)),
    );
    app.addHook('onClose', () => endpoint.close());
    for (const url of ['/mcp', '/mcp/']) {
      app.route({
        method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        url,
        exposeHeadRoute: false,
        bodyLimit: MAX_BODY_BYTES,
        handler: (request, reply) => handle(context, endpoint, request, reply),
      });
    }
  };
}

async function handle(
  context: AppContext,
  endpoint: McpEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { origin, host } = request.headers;
  void reply.header('cache-control', 'no-store');
  if (!isAllowedHost(context, { host, origin })) {
    return answer(
      reply,
      rpcError(null, 403, 'forbidden: Host or Origin does not belong to this server', {
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
      return answer(reply, await post(endpoint, request, reply));
    case 'DELETE':
      return answer(reply, await endpoint.delete(one(request.headers, SESSION_HEADER)));
    default:
      return answer(reply, notAllowed());
  }
}

async function post(
  endpoint: McpEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<McpResponse | McpStream | Response> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    return rpcError(null, 415, 'Send JSON: Content-Type: application/json', {
      status: 415,
      data: { error: 'unsupported_media_type' },
    });
  }
  const { headers, ip, body } = request;
  return endpoint.post({
    url: new URL(request.url, 'http://mcp.invalid'),
    ip,
    // Closes over the headers only: the library retains requests until the next full garbage collection.
    header: (name) => one(headers, name),
    authorization: authorizationOf(request),
    body: typeof body === 'string' ? body : '',
    closed: () => closeSignal(reply.raw),
    loggedIn: (account) => countByAccount(request.raw, account),
  });
}

function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function failure(context: AppContext, error: Error & { statusCode?: number }): McpResponse {
  if (error.statusCode === 413) {
    return rpcError(null, 413, `The body is larger than ${MAX_BODY_BYTES} octets`, {
      status: 413,
      data: { error: 'too_large', maxBytes: MAX_BODY_BYTES },
    });
  }
  const status = error.statusCode ?? 500;
  if (status >= 500) context.log.error({ err: error }, 'MCP request failed');
  return rpcError(
    null,
    status >= 500 ? -32603 : -32600,
    status >= 500 ? 'Internal error; it was logged' : 'Bad request',
    {
      status,
    },
  );
}

async function answer(reply: FastifyReply, what: McpResponse | McpStream | Response): Promise<FastifyReply> {
  if ('events' in what) return reply.code(what.status).headers(what.headers).send(what.events);
  if (!(what instanceof Response)) return reply.code(what.status).headers(what.headers).send(what.body);
  void reply.code(what.status);
  for (const [name, value] of what.headers) void reply.header(name, value);
  void reply.header('cache-control', 'no-store');
  if (what.body === null) return reply.send();
  const streamed = what.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return reply.send(streamed ? what.body : await what.text());
}

/** Loopback host names. */
const LOCAL = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i;

/**
 * True if Host and Origin belong to this server. Refuses DNS rebinding and pages of other sites.
 */
function isAllowedHost(
  { settings, baseUrl }: AppContext,
  { host, origin }: { host: string | undefined; origin: string | undefined },
): boolean {
  const own = new URL(baseUrl());
  const local = settings.listen.every(isLoopback);
  const hosts = [own.host, settings.hostname];
  const known = host !== undefined && (hosts.includes(host.toLowerCase()) || (local && LOCAL.test(host)));
  if (!known) return false;
  if (origin === undefined || origin === own.origin) return true;
  return local && /^https?:\/\//.test(origin) && LOCAL.test(origin.replace(/^https?:\/\//, ''));
}
