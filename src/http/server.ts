import type { AddressInfo } from 'node:net';
import type { SecureContext } from 'node:tls';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Guard } from '../../mail/guard/guard.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import type { Log } from '../../mail/log.ts';
import type { Metrics } from '../metrics.ts';
import { gate, looksForHoles } from './gate.ts';

/** Where the HTTP door listens, and how. */
export interface HttpListener {
  tls: boolean;
  host: string;
  port: number;
}

export interface HttpOptions {
  listeners: readonly HttpListener[];
  secureContext(): SecureContext;
  /** The certificate of the start, for clients that name no host. */
  certificate: { cert: string; key: string };
  /** Names of the checks that fail now; none: ready. */
  failing(): readonly string[];
  /** Who may come in. */
  guard: Guard;
  /** Milliseconds UTC. */
  clock: () => number;
  metrics: Metrics;
  log: Log;
  /** Peers whose X-Forwarded-For counts. */
  trusted(ip: string): boolean;
  /** Further doors: each is given a context of its own, so its parsers and error answers are nobody else's. */
  doors: readonly ((app: FastifyInstance) => void | Promise<void>)[];
}

export interface HttpDoor {
  addresses(): { tls: boolean; port: number }[];
  close(): Promise<void>;
}

const BODY_LIMIT = 1024 * 1024;

/** Opens the HTTP door: health, readiness, metrics, and what the further doors have. */
export async function startHttp(options: HttpOptions): Promise<HttpDoor> {
  const doors: { app: FastifyInstance; listener: HttpListener }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(doors.map(({ app }) => app.close()));
  };
  try {
    for (const listener of options.listeners) {
      const app = makeApp(options, listener.tls);
      app.server.headersTimeout = HEADERS_TIMEOUT_MS;
      gate(app, listener.tls, options);
      addRoutes(app, options);
      for (const door of options.doors) await app.register(async (inner) => door(inner as FastifyInstance));
      doors.push({ app, listener });
      // `::` alone would take IPv4 too, and stand in the way of 0.0.0.0 on the same port.
      await app.listen({ host: listener.host, port: listener.port, ipv6Only: true });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    addresses: () =>
      doors.map(({ app, listener }) => ({ tls: listener.tls, port: (app.server.address() as AddressInfo).port })),
    close,
  };
}

/** On every answer: nothing of ours is sniffed, framed, kept, or told to the next site. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

const HEADERS_TIMEOUT_MS = 30_000;
const HANDSHAKE_MS = 15_000;
/** How often is looked for requests that take too long. */
const LOOK_MS = 5000;

/** A whole request may take as long as a large upload over a slow line; its header may not. */
const COMMON = {
  bodyLimit: BODY_LIMIT,
  forceCloseConnections: true,
  requestTimeout: 300_000,
  logger: false,
} as const;

function makeApp(options: HttpOptions, tls: boolean): FastifyInstance {
  const common = { ...COMMON, trustProxy: (ip: string) => options.trusted(ip) };
  const connectionsCheckingInterval = LOOK_MS;
  if (!tls) return Fastify({ ...common, http: { connectionsCheckingInterval } });
  // Asked at each handshake, so that a renewed certificate needs no restart.
  const SNICallback = (_name: string, done: (error: Error | null, context?: SecureContext) => void): void => {
    done(null, options.secureContext());
  };
  const https = {
    SNICallback,
    minVersion: 'TLSv1.2' as const,
    handshakeTimeout: HANDSHAKE_MS,
    connectionsCheckingInterval,
    ...options.certificate,
  };
  const app: unknown = Fastify({ ...common, https });
  return app as FastifyInstance;
}

function addRoutes(app: FastifyInstance, options: HttpOptions): void {
  app.addHook('onSend', async (_request, reply) => {
    // Doors that know better have said so already.
    for (const [name, value] of Object.entries(HEADERS)) if (!reply.hasHeader(name)) void reply.header(name, value);
  });
  app.get('/healthz', async (_request, reply) => reply.send({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const failing = options.failing();
    return reply.code(failing.length === 0 ? 200 : 503).send({ ready: failing.length === 0, failing });
  });
  app.get('/metrics', async (request, reply) => {
    if (!isLoopback(request.ip)) return reply.code(403).send(problem('forbidden', 'Metrics are for loopback only.'));
    const { type, text } = await options.metrics.render();
    return reply.type(type).send(text);
  });
  app.setNotFoundHandler((request, reply) => {
    if (looksForHoles(pathOf(request), request.headers['sec-fetch-site'])) options.guard.offended(request.ip, 'scans');
    return reply.code(404).send(problem('not_found', `There is nothing at ${request.method} ${pathOf(request)}.`));
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const code = error.statusCode ?? 500;
    if (code >= 500) options.log.error({ err: error }, 'an HTTP request failed');
    return reply
      .code(code)
      .send(
        problem(
          code >= 500 ? 'internal' : 'bad_request',
          code >= 500 ? 'Something went wrong here; it was logged.' : error.message,
        ),
      );
  });
}

/** Without the query, in which people put what is not to be repeated. */
export function pathOf({ url }: { url: string }): string {
  return (url.split('?', 1)[0] ?? '').slice(0, 200);
}

function problem(error: string, message: string): { error: string; message: string } {
  return { error, message };
}
