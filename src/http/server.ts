import type { AddressInfo } from 'node:net';
import type { SecureContext } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Guard } from '../../mail/guard/guard.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import type { MemoryBudget } from '../../mail/limits/memory-budget.ts';
import { sniCallback } from '../../mail/limits/sni-callback.ts';
import type { Log } from '../../mail/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { ChallengeAnswers } from '../acme/challenge-answers.ts';
import { TLS_LISTENER_OPTIONS } from '../tls/tls-source.ts';
import { answerAlpnChallenges } from './alpn-challenges.ts';
import { methodsAt, recordRoutes } from './allowed-methods.ts';
import { refuseMethod } from './json-replies.ts';
import { answerClientError } from './client-error.ts';
import { boundBodies } from './body-memory.ts';
import { originForm, refuseAmbiguous } from './request-target.ts';
import { drainRequests } from './request-drain.ts';
import { queuePipelined } from './request-queue.ts';
import { requireTls } from './secure-transport.ts';
import { guardConnections, isVulnerabilityScan } from './connection-guard.ts';

/** Address and TLS mode of an HTTP listener. */
export interface HttpListener {
  tls: boolean;
  host: string;
  port: number;
}

export interface HttpOptions {
  listeners: readonly HttpListener[];
  secureContext(serverName?: string): SecureContext;
  /** Certificates for clients without SNI, one for each algorithm, and the way to learn that they changed. */
  certificate: { current(): { cert: string[]; key: string[] }; onChange(listener: () => void): void };
  /** Answers to challenges of a certificate authority. */
  challenges: ChallengeAnswers;
  /** Names of the failing readiness checks; empty if ready. */
  failing(): readonly string[];
  /** Name of this node of several, and whether it leads; undefined: it is alone. */
  node: () => { name: string; leads: boolean } | undefined;
  /** Names of parts that fail while the rest works: requests are still welcome. */
  degraded(): readonly string[];
  /** Connection limits and bans. */
  guard: Guard;
  /** Milliseconds UTC. */
  clock: () => number;
  metrics: Metrics;
  log: Log;
  /** Memory for bodies that are read. */
  memory: MemoryBudget;
  /** Live mode: its URL decides if requests have to come over TLS; left out: local mode. */
  baseUrl?: () => string;
  /** True for proxies whose X-Forwarded-For is trusted. */
  trusted(ip: string): boolean;
  /** Endpoints, each in an encapsulated Fastify context with its own parsers and error handler. */
  endpoints: readonly ((app: FastifyInstance) => void | Promise<void>)[];
}

export interface HttpListenerSet {
  addresses(): { tls: boolean; port: number }[];
  close(): Promise<void>;
}

const BODY_LIMIT = 1024 * 1024;

/** Starts the HTTP listeners: health, readiness, metrics and the endpoints. */
export async function startHttpServer(options: HttpOptions): Promise<HttpListenerSet> {
  const servers: { app: FastifyInstance; listener: HttpListener }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(({ app }) => app.close()));
  };
  try {
    for (const listener of options.listeners) {
      const app = makeApp(options, listener.tls);
      app.server.headersTimeout = HEADERS_TIMEOUT_MS;
      queuePipelined(app.server);
      guardConnections(app, listener.tls, options);
      refuseAmbiguous(app);
      drainRequests(app);
      recordRoutes(app);
      boundBodies(app, options.memory);
      addRoutes(app, options);
      if (options.baseUrl !== undefined) requireTls(app, options.baseUrl);
      for (const endpoint of options.endpoints) await app.register(async (inner) => endpoint(inner as FastifyInstance));
      servers.push({ app, listener });
      // Without ipv6Only, `::` would bind IPv4 too and conflict with 0.0.0.0 on the same port.
      await app.listen({ host: listener.host, port: listener.port, ipv6Only: true });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    addresses: () =>
      servers.map(({ app, listener }) => ({ tls: listener.tls, port: (app.server.address() as AddressInfo).port })),
    close,
  };
}

/** Default security headers of every response. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** RFC 8555 8.3. */
const CHALLENGE_PATH = '/.well-known/acme-challenge/';
const HEADERS_TIMEOUT_MS = 30_000;
const HANDSHAKE_MS = 15_000;
/** Interval of the check for request timeouts. */
const TIMEOUT_CHECK_MS = 5000;

/** The request timeout allows large uploads over slow lines; the header timeout is shorter. */
const COMMON = {
  bodyLimit: BODY_LIMIT,
  forceCloseConnections: true,
  requestTimeout: 300_000,
  logger: false,
} as const;

function makeApp(options: HttpOptions, tls: boolean): FastifyInstance {
  const common = {
    ...COMMON,
    trustProxy: (ip: string) => options.trusted(ip),
    frameworkErrors: refuseUrl,
    rewriteUrl: originForm,
    clientErrorHandler: answerClientError,
  };
  const connectionsCheckingInterval = TIMEOUT_CHECK_MS;
  if (!tls) return Fastify({ ...common, http: { connectionsCheckingInterval } });
  const { certificate, challenges } = options;
  const https = {
    // Called at each handshake, so that a renewed certificate needs no restart.
    SNICallback: sniCallback(
      () => options.secureContext(),
      (name) => options.secureContext(name),
    ),
    ...TLS_LISTENER_OPTIONS,
    handshakeTimeout: HANDSHAKE_MS,
    connectionsCheckingInterval,
    ...certificate.current(),
  };
  const app = Fastify({ ...common, https });
  certificate.onChange(() => app.server.setSecureContext({ ...TLS_LISTENER_OPTIONS, ...certificate.current() }));
  answerAlpnChallenges(app.server, challenges);
  return app;
}

function nodeOf({ node }: HttpOptions): { node?: string; leads?: boolean } {
  const { name, leads } = node() ?? {};
  return name === undefined ? {} : { node: name, leads: leads === true };
}

function addRoutes(app: FastifyInstance, options: HttpOptions): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Endpoints may have set their own values.
    for (const [name, value] of Object.entries(HEADERS)) if (!reply.hasHeader(name)) void reply.header(name, value);
    done();
  });
  app.get<{ Params: { token: string } }>(`${CHALLENGE_PATH}:token`, async ({ params }, reply) => {
    const text = options.challenges.tokenText(params.token);
    if (text === undefined) return reply.code(404).send(problem('not_found', 'No such challenge.'));
    return reply.type('application/octet-stream').send(text);
  });
  app.get('/healthz', async (_request, reply) => reply.send({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const failing = options.failing();
    const degraded = options.degraded();
    return reply
      .code(failing.length === 0 ? 200 : 503)
      .send({ ready: failing.length === 0, failing, degraded, ...nodeOf(options) });
  });
  app.get('/metrics', async (request, reply) => {
    if (!isLoopback(request.ip))
      return reply.code(403).send(problem('forbidden', 'Metrics are available on loopback only.'));
    const { type, text } = await options.metrics.render();
    return reply.type(type).send(text);
  });
  const notFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const methods = methodsAt(app, pathWithoutQuery(request));
    if (methods.length > 0) return refuseMethod(reply, methods);
    if (isVulnerabilityScan(pathWithoutQuery(request), request.headers['sec-fetch-site']))
      options.guard.addOffence(request.ip, 'scans');
    return reply.code(404).send(problem('not_found', `Not found: ${request.method} ${pathWithoutQuery(request)}.`));
  };
  app.setNotFoundHandler(notFound);
  // Before the body is read: it has no parser here.
  app.addHook('onRequest', (request, reply, done) => (request.is404 ? void notFound(request, reply) : done()));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const code = error.statusCode ?? 500;
    if (code >= 500) options.log.error({ err: error }, 'HTTP request failed');
    return reply
      .code(code)
      .send(
        problem(
          code >= 500 ? 'internal' : 'invalid_arguments',
          code >= 500 ? 'Internal error; it was logged.' : error.message,
        ),
      );
  });
}

/** Answers a URL that cannot be decoded, before any route. */
function refuseUrl(error: Error, _request: unknown, reply: FastifyReply): void {
  // Without the hooks: closes, as they may not have seen what makes the rest unreadable.
  void reply
    .code(400)
    .header('connection', 'close')
    .send(problem('invalid_arguments', `${error.message}.`));
}

/** Path without the query, which may contain secrets. */
export function pathWithoutQuery({ url }: { url: string }): string {
  return (url.split('?', 1)[0] ?? '').slice(0, 200);
}

function problem(error: string, message: string): { error: string; message: string } {
  return { error, message };
}
