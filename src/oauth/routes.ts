import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../mail/guard/network.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { parseBounded } from '../http/json.ts';
import type { World } from '../operations/world.ts';
import { registerClient } from './client-commands.ts';
import { readMetadata } from './client-metadata.ts';
import { Form } from './form.ts';
import { endGrant } from './grant-commands.ts';
import { hashOfSecret } from './secret.ts';
import { grantTokens, type OAuthError } from './tokens.ts';

const LARGEST = 32 * 1024;

type Handler = (world: World, request: FastifyRequest) => Promise<{ status: number; body: object | undefined }>;

const ENDPOINTS: Readonly<Record<string, Handler>> = { register, token, revoke };

/** `/oauth/register`, `/oauth/token`, `/oauth/revoke`: what programs ask for themselves. The rest is a person's page. */
export function oauthRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
      const parsed = parseBounded(String(body));
      done(null, parsed.ok ? parsed.value : undefined);
    });
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, new Form(String(body))),
    );
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => failed(world, error, reply));
    for (const [name, handle] of Object.entries(ENDPOINTS)) {
      const url = `/oauth/${name}`;
      app.options(url, (_request, reply) => openToPages(reply).code(204).send());
      app.post(url, { bodyLimit: LARGEST }, (request, reply) => answer(world, name, handle, request, reply));
    }
  };
}

async function answer(
  world: World,
  endpoint: string,
  handle: Handler,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  void openToPages(reply).header('cache-control', 'no-store');
  const wait = world.limits.take(request.ip, undefined, world.clock());
  const { status, body } = wait > 0 ? tooMany(wait) : await handle(world, request);
  const outcome = body !== undefined && 'error' in body ? String(body.error) : 'done';
  world.metrics.count('oauth_requests_total', { endpoint, outcome });
  world.log.info({ endpoint, outcome, ip: request.ip }, 'oauth');
  if (status === 429)
    void reply.header('retry-after', String((body as { retryAfterSeconds: number }).retryAfterSeconds));
  return reply.code(status).send(body);
}

/** Programs that are pages may ask, too: these answers follow from what is in the request, and from no cookie. */
function openToPages(reply: FastifyReply): FastifyReply {
  return reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', 'POST')
    .header('access-control-allow-headers', 'authorization, content-type, mcp-protocol-version');
}

function tooMany(retryAfterSeconds: number) {
  const error_description = `Too many requests: wait ${retryAfterSeconds} s.`;
  return { status: 429, body: { error: 'temporarily_unavailable', error_description, retryAfterSeconds } };
}

function wrong(error: OAuthError, error_description: string, status = 400) {
  return { status, body: { error, error_description } };
}

/** Dynamic registration, for clients without a metadata document. RFC 7591 3. */
async function register(world: World, { body, ip }: FastifyRequest) {
  const read = readMetadata(body instanceof Form ? undefined : body);
  if ('error' in read) return wrong(read.error, `Not registered: ${read.why}.`);
  const id = `client_${randomBytes(16).toString('base64url')}`;
  const network = world.limits.isFree(ip) ? null : networkOf(ip);
  const done = await world.store.write(registerClient, { id, ...read, network });
  if (done.kind === 'limited') return tooMany(Math.ceil(done.waitMs / 1000));
  const registered = {
    client_id: id,
    client_id_issued_at: Math.floor(world.clock() / 1000),
    client_name: read.name,
    redirect_uris: read.redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  return { status: 201, body: registered };
}

/** RFC 6749 3.2. */
async function token(world: World, { body, ip }: FastifyRequest) {
  const granted = await grantTokens(world, body instanceof Form ? body : undefined, ip);
  return 'error' in granted ? wrong(granted.error, granted.why) : { status: 200, body: granted };
}

/** Gives one secret of a grant back, and with it all of them. What is unknown is not there any more. RFC 7009 2. */
async function revoke(world: World, { body, ip }: FastifyRequest) {
  const secret = body instanceof Form ? body.one('token') : undefined;
  if (!(body instanceof Form) || secret === undefined) return wrong('invalid_request', 'Send a form with token.');
  const { tokenPrefix } = world.settings;
  const hash = hashOfSecret('refresh', secret, tokenPrefix) ?? hashOfSecret('access', secret, tokenPrefix);
  if (hash !== undefined) await world.store.write(endGrant, { hash, client: body.one('client_id') ?? null, ip });
  return { status: 200, body: undefined };
}

function failed(world: World, error: Error & { statusCode?: number }, reply: FastifyReply): FastifyReply {
  void openToPages(reply).header('cache-control', 'no-store');
  const status = error.statusCode ?? 500;
  if (error instanceof StoreBusy) {
    void reply.header('retry-after', '30');
    return reply.code(503).send({ error: 'temporarily_unavailable', error_description: 'Try again in 30 s.' });
  }
  if (status >= 500) world.log.error({ err: error }, 'an OAuth request failed');
  const text = status >= 500 ? 'Something went wrong here; it was logged.' : 'The body is not what is taken here.';
  return reply
    .code(status)
    .send({ error: status >= 500 ? 'server_error' : 'invalid_request', error_description: text });
}
