import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../mail/guard/network.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { parseBounded } from '../core/json.ts';
import type { AppContext } from '../core/app-context.ts';
import { registerClient } from './client-commands.ts';
import { readMetadata } from './client-document.ts';
import { FormFields, grantTokens, type OAuthError } from './tokens.ts';
import { endGrant } from './grant-commands.ts';
import { hashOfSecret } from '../tokens/oauth-secret.ts';

const MAX_BODY_BYTES = 32 * 1024;

type Handler = (context: AppContext, request: FastifyRequest) => Promise<{ status: number; body: object | undefined }>;

const ENDPOINTS: Readonly<Record<string, Handler>> = { register, token, revoke };

/** `/oauth/register`, `/oauth/token`, `/oauth/revoke`. The consent page is in the portal. */
export function oauthRoutes(context: AppContext): (app: FastifyInstance) => void {
  return (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
      const parsed = parseBounded(String(body));
      done(null, parsed.ok ? parsed.value : undefined);
    });
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, new FormFields(String(body))),
    );
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => failed(context, error, reply));
    for (const [name, handle] of Object.entries(ENDPOINTS)) {
      const url = `/oauth/${name}`;
      app.options(url, (_request, reply) => allowCors(reply).code(204).send());
      app.post(url, { bodyLimit: MAX_BODY_BYTES }, (request, reply) => answer(context, name, handle, request, reply));
    }
  };
}

async function answer(
  context: AppContext,
  endpoint: string,
  handle: Handler,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  void allowCors(reply).header('cache-control', 'no-store');
  const wait = context.limits.take(request.ip, undefined, context.clock());
  const { status, body } = wait > 0 ? tooMany(wait) : await handle(context, request);
  const outcome = body !== undefined && 'error' in body ? String(body.error) : 'done';
  context.metrics.count('oauth_requests_total', { endpoint, outcome });
  context.log.info({ endpoint, outcome, ip: request.ip }, 'OAuth request handled');
  if (status === 429)
    void reply.header('retry-after', String((body as { retryAfterSeconds: number }).retryAfterSeconds));
  return reply.code(status).send(body);
}

/** Allows CORS from any origin: responses depend on the request body, never on cookies. */
function allowCors(reply: FastifyReply): FastifyReply {
  return reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', 'POST')
    .header('access-control-allow-headers', 'authorization, content-type, mcp-protocol-version');
}

function tooMany(retryAfterSeconds: number) {
  const error_description = `Too many requests. Retry in ${retryAfterSeconds} s.`;
  return { status: 429, body: { error: 'temporarily_unavailable', error_description, retryAfterSeconds } };
}

function wrong(error: OAuthError, error_description: string, status = 400) {
  return { status, body: { error, error_description } };
}

/** Dynamic registration, for clients without a metadata document. RFC 7591 3. */
async function register(context: AppContext, { body, ip }: FastifyRequest) {
  const read = readMetadata(body instanceof FormFields ? undefined : body);
  if ('error' in read) return wrong(read.error, `Not registered: ${read.why}.`);
  const id = `client_${randomBytes(16).toString('base64url')}`;
  const network = context.limits.isFree(ip) ? null : networkOf(ip);
  const done = await context.store.write(registerClient, { id, ...read, network });
  if (done.kind === 'limited') return tooMany(Math.ceil(done.waitMs / 1000));
  const registered = {
    client_id: id,
    client_id_issued_at: Math.floor(context.clock() / 1000),
    client_name: read.name,
    redirect_uris: read.redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  return { status: 201, body: registered };
}

/** RFC 6749 3.2. */
async function token(context: AppContext, { body, ip }: FastifyRequest) {
  const granted = await grantTokens(context, body instanceof FormFields ? body : undefined, ip);
  return 'error' in granted ? wrong(granted.error, granted.why) : { status: 200, body: granted };
}

/** Revokes the whole grant of a token. Unknown tokens succeed too. RFC 7009 2. */
async function revoke(context: AppContext, { body, ip }: FastifyRequest) {
  const secret = body instanceof FormFields ? body.one('token') : undefined;
  if (!(body instanceof FormFields) || secret === undefined)
    return wrong('invalid_request', 'Send a form with the field token.');
  const { tokenPrefix } = context.settings;
  const hash = hashOfSecret('refresh', secret, tokenPrefix) ?? hashOfSecret('access', secret, tokenPrefix);
  if (hash !== undefined) await context.store.write(endGrant, { hash, client: body.one('client_id') ?? null, ip });
  return { status: 200, body: undefined };
}

function failed(context: AppContext, error: Error & { statusCode?: number }, reply: FastifyReply): FastifyReply {
  void allowCors(reply).header('cache-control', 'no-store');
  const status = error.statusCode ?? 500;
  if (error instanceof StoreBusy) {
    void reply.header('retry-after', '30');
    return reply
      .code(503)
      .send({ error: 'temporarily_unavailable', error_description: 'Temporarily unavailable. Retry in 30 s.' });
  }
  if (status >= 500) context.log.error({ err: error }, 'OAuth request failed');
  const text = status >= 500 ? 'Internal error; it was logged.' : 'Invalid or unsupported request body.';
  return reply
    .code(status)
    .send({ error: status >= 500 ? 'server_error' : 'invalid_request', error_description: text });
}
