import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../operations/caller.ts';
import { operations } from '../operations/loaded.ts';
import type { Operation } from '../operations/operation.ts';
import { reading, readOnlyRefusal, saysYes } from '../operations/read-only.ts';
import type { World } from '../operations/world.ts';
import { authenticate } from '../tokens/authenticate.ts';
import { authorizationOf, jsonOnly, say } from './answers.ts';
import { goneSignal } from './gone.ts';
import { pathOf } from './server.ts';

type Params = Record<string, string>;

/** Under these are the routes that operations name for themselves. */
const ROUTED = ['/api/email/*', '/api/bans', '/api/bans/*', '/api/undo'];

/**
 * REST: `GET /api/tools`, `POST /api/tools/{name}` for every operation, and the routes that operations name for
 * themselves. The same operations as over MCP; arguments are the body, the query and the path.
 */
export function toolRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    jsonOnly(app);
    app.get('/api/tools', (request, reply) => catalogue(world, request, reply));
    app.post<{ Params: { name: string } }>('/api/tools/:name', async (request, reply) => {
      const { findOperation } = await operations();
      const operation = findOperation(request.params.name);
      const caller = await admitted(world, request, reply, operation);
      if (caller === undefined) return reply;
      if (operation === undefined) {
        return say(reply, { error: 'not_found', message: 'There is no such tool: GET /api/tools lists them.' });
      }
      return answer(world, operation, { caller, readOnly: isReadOnly(request) }, request.body, reply);
    });
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
      for (const url of ROUTED) app.route({ method, url, handler: (request, reply) => byRoute(world, request, reply) });
    }
  };
}

async function catalogue(world: World, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = await admitted(world, request, reply, undefined, true);
  if (caller === undefined) return reply;
  const { describe, visibleTo, CATALOGUE } = await operations();
  return reply.send({ tools: CATALOGUE.filter((one) => visibleTo(one, caller)).map(describe) });
}

async function byRoute(world: World, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { CATALOGUE } = await operations();
  const path = new URL(request.url, 'http://box').pathname;
  const fits = CATALOGUE.flatMap((one) => {
    const params = one.rest === undefined ? undefined : matched(one.rest.path, path);
    return params === undefined ? [] : [{ one, params }];
  });
  const found = fits.find(({ one }) => one.rest?.method === request.method);
  const caller = await admitted(world, request, reply, found?.one);
  if (caller === undefined) return reply;
  if (found === undefined)
    return noRoute(
      request,
      reply,
      fits.map(({ one }) => one.rest?.method ?? ''),
    );
  const body = request.body ?? {};
  const own = typeof body === 'object' && !Array.isArray(body) ? body : {};
  const input = { ...queryOf(found.one, request), ...own, ...found.params };
  return answer(world, found.one, { caller, readOnly: isReadOnly(request) }, input, reply);
}

/** The query of a route, by the names of the input. */
function queryOf({ rest }: Operation, request: FastifyRequest): Params {
  const names = rest?.query ?? {};
  const given = Object.entries(request.query as Params);
  return Object.fromEntries(
    given.map(([name, value]) => [Object.hasOwn(names, name) ? (names[name] ?? name) : name, value]),
  );
}

function noRoute(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  if (allowed.length === 0) {
    const message = `There is nothing at ${pathOf(request)}: /openapi.json lists what there is.`;
    return say(reply, { error: 'not_found', message });
  }
  void reply.header('allow', allowed.join(', '));
  return reply
    .code(405)
    .send({ error: 'invalid_arguments', message: `Here only ${allowed.join(', ')} is understood.` });
}

/** The parameters of a path such as `/api/email/domains/:domainId`, or undefined when it does not fit. */
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

/** Who calls, or undefined when the answer has been given. */
export async function admitted(
  world: World,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation | undefined,
  anonymous = false,
): Promise<Caller | undefined> {
  void reply.header('cache-control', 'no-store');
  const who = await authenticate(world, authorizationOf(request), 'rest', request.ip);
  const token = who.kind === 'caller' ? who.caller.token?.id : undefined;
  const wait = world.limits.take(request.ip, token, world.clock());
  if (wait > 0) {
    say(reply, { error: 'rate_limited', message: `Too many requests: wait ${wait} s.`, retryAfterSeconds: wait });
    return undefined;
  }
  if (who.kind === 'caller') return who.caller;
  if (who.kind === 'nobody' && (anonymous || operation?.action === 'anonymous')) return who.caller;
  const why = who.kind === 'refused' ? who.why : 'send a token as "Authorization: Bearer <token>"';
  const detail = who.kind === 'refused' ? ', error="invalid_token"' : '';
  void reply.header('www-authenticate', `Bearer realm="mailstead"${detail}`);
  say(reply, { error: 'unauthorized', message: `Unauthorized: ${why}.` });
  return undefined;
}

/** As over MCP: a host that promises to change nothing may not know what the next tool does. */
function isReadOnly({ headers }: FastifyRequest): boolean {
  return saysYes(String(headers['x-service-readonly'] ?? ''));
}

async function answer(
  world: World,
  operation: Operation,
  { caller: whole, readOnly }: { caller: Caller; readOnly: boolean },
  input: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal = readOnly ? readOnlyRefusal(operation) : undefined;
  if (refusal !== undefined) return say(reply, refusal);
  const caller = readOnly ? reading(whole, operation) : whole;
  const { perform } = await operations();
  const audience = operation.streams === true ? { signal: goneSignal(reply.raw) } : undefined;
  const outcome = await perform(world, operation, caller, input, { audience });
  if (outcome.kind === 'refused') return say(reply, outcome.refusal);
  return reply.code(outcome.pending === true ? 202 : (operation.rest?.status ?? 200)).send(outcome.result);
}
