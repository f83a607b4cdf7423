import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../core/caller.ts';
import { operations } from '../operations/lazy-catalogue.ts';
import type { Operation } from '../core/operation.ts';
import { withoutWriteActions, readOnlyRefusal, isFlagSet } from '../core/mode.ts';
import type { AppContext } from '../core/app-context.ts';
import { authenticateToken } from '../tokens/authenticate.ts';
import { methodsAt } from './allowed-methods.ts';
import { countByAccount } from './connection-guard.ts';
import {
  authorizationOf,
  acceptJsonOnly,
  closeSignal,
  refuseMethod,
  isRateLimited,
  sendRefusal,
} from './json-replies.ts';
import { pathWithoutQuery } from './server.ts';

type Params = Record<string, string>;

/** Prefixes of the operations' own routes. */
const ROUTE_PREFIXES = [
  '/api/email/*',
  '/api/bans',
  '/api/bans/*',
  '/api/undo',
  '/api/sign-in-policy',
  '/api/server/*',
];

/**
 * REST: `GET /api/tools`, `POST /api/tools/{name}` for every operation, and the operations' own routes. The same operations
 * as over MCP; arguments come from body, query and path.
 */
export function toolRoutes(context: AppContext): (app: FastifyInstance) => void {
  return (app) => {
    acceptJsonOnly(app);
    app.get('/api/tools', (request, reply) => catalogue(context, request, reply));
    app.post<{ Params: { name: string } }>('/api/tools/:name', async (request, reply) => {
      const { findOperation } = await operations();
      const operation = findOperation(request.params.name);
      const caller = await authenticateRest(context, request, reply, operation);
      if (caller === undefined) return reply;
      if (operation === undefined) {
        return sendRefusal(reply, { error: 'not_found', message: 'Unknown tool. GET /api/tools lists all tools.' });
      }
      const body = bodyOf(request);
      if (body === undefined) return sendRefusal(reply, NO_OBJECT);
      return answer(context, operation, { caller, readOnly: isReadOnly(request) }, body, reply);
    });
    for (const url of ROUTE_PREFIXES) {
      const handler = (request: FastifyRequest, reply: FastifyReply) => byRoute(context, request, reply);
      app.route({ method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], url, exposeHeadRoute: false, handler });
    }
  };
}

async function catalogue(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = await authenticateRest(context, request, reply, undefined, true);
  if (caller === undefined) return reply;
  const { describe, visibleTo, CATALOGUE } = await operations();
  return reply.send({ tools: CATALOGUE.filter((one) => visibleTo(one, caller)).map(describe) });
}

async function byRoute(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { CATALOGUE } = await operations();
  const path = new URL(request.url, 'http://box').pathname;
  const fits = CATALOGUE.flatMap((one) => {
    const params = one.rest === undefined ? undefined : matched(one.rest.path, path);
    return params === undefined ? [] : [{ one, params }];
  });
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const found = fits.find(({ one }) => one.rest?.method === method);
  const allowed = [...fits.map(({ one }) => one.rest?.method ?? ''), ...methodsAt(request.server, path)];
  if (found === undefined && allowed.length > 0) return refuseMethod(reply, [...new Set(allowed)]);
  const caller = await authenticateRest(context, request, reply, found?.one);
  if (caller === undefined) return reply;
  if (found === undefined) {
    const message = `Not found: ${pathWithoutQuery(request)}. /openapi.json lists all routes.`;
    return sendRefusal(reply, { error: 'not_found', message });
  }
  const body = bodyOf(request);
  if (body === undefined) return sendRefusal(reply, NO_OBJECT);
  const input = { ...queryOf(found.one, request), ...body, ...found.params };
  return answer(context, found.one, { caller, readOnly: isReadOnly(request) }, input, reply);
}

const NO_OBJECT = { error: 'invalid_arguments', message: 'The body must be a JSON object.', issues: [] } as const;

/** The arguments of the body; undefined: JSON, but no object. */
function bodyOf({ body = {} }: FastifyRequest): object | undefined {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : undefined;
}

/** Query parameters under the argument names of the operation. */
function queryOf({ rest }: Operation, request: FastifyRequest): Params {
  const names = rest?.query ?? {};
  const given = Object.entries(request.query as Params);
  return Object.fromEntries(
    given.map(([name, value]) => [Object.hasOwn(names, name) ? (names[name] ?? name) : name, value]),
  );
}

/** Parameters of a path that matches a pattern such as `/api/email/domains/:domainId`; else undefined. */
function matched(pattern: string, path: string): Params | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Params = {};
  for (const [i, part] of wanted.entries()) {
    const text = given[i] ?? '';
    const [name, action] = part.startsWith(':') ? part.slice(1).split('::') : [undefined, undefined];
    if (name === undefined && part !== text) return undefined;
    if (name !== undefined && (text === '' || !text.endsWith(action === undefined ? '' : `:${action}`)))
      return undefined;
    if (name !== undefined) params[name] = decoded(action === undefined ? text : text.slice(0, -action.length - 1));
  }
  return params;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Authenticates a REST request; undefined if a refusal was sent. */
export async function authenticateRest(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation | undefined,
  anonymous = false,
): Promise<Caller | undefined> {
  const who = await authenticateToken(context, authorizationOf(request), 'rest', request.ip);
  const token = who.kind === 'caller' ? who.caller.token?.id : undefined;
  if (isRateLimited(context, request, reply, token)) return undefined;
  if (who.kind === 'caller') {
    countByAccount(request.raw, who.caller.actor);
    return who.caller;
  }
  if (who.kind === 'nobody' && (anonymous || operation?.action === 'anonymous')) return who.caller;
  const why = who.kind === 'refused' ? who.why : 'send a token as "Authorization: Bearer <token>"';
  const detail = who.kind === 'refused' ? ', error="invalid_token"' : '';
  void reply.header('www-authenticate', `Bearer realm="mailstead"${detail}`);
  sendRefusal(reply, { error: 'unauthorized', message: `Unauthorized: ${why}.` });
  return undefined;
}

/** True for hosts that restrict themselves to read-only operations, as over MCP. */
function isReadOnly({ headers }: FastifyRequest): boolean {
  return isFlagSet(String(headers['x-service-readonly'] ?? ''));
}

async function answer(
  context: AppContext,
  operation: Operation,
  { caller: whole, readOnly }: { caller: Caller; readOnly: boolean },
  input: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal = readOnly ? readOnlyRefusal(operation) : undefined;
  if (refusal !== undefined) return sendRefusal(reply, refusal);
  const caller = readOnly ? withoutWriteActions(whole, operation) : whole;
  const { perform } = await operations();
  const audience = operation.streams === true ? { signal: closeSignal(reply.raw) } : undefined;
  const outcome = await perform(context, operation, caller, input, { audience });
  if (outcome.kind === 'refused') return sendRefusal(reply, outcome.refusal);
  return reply.code(outcome.pending === true ? 202 : (operation.rest?.status ?? 200)).send(outcome.result);
}
