import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendRefusal } from './json-replies.ts';

/** Paths that plain HTTP serves: certificate challenges and probes, which carry no credential. */
const PLAIN_PATHS = /^\/(?:\.well-known\/acme-challenge\/|(?:healthz|readyz|metrics)$)/;
/** A year, in seconds. RFC 6797 6.1. */
const HSTS = 'max-age=31536000';

/**
 * Serves an https base URL over TLS only: pages redirect, everything else is refused, so that no form and no credential
 * is used over plain HTTP. A trusted proxy's X-Forwarded-Proto counts as the protocol of the request.
 */
export function requireTls(app: FastifyInstance, baseUrl: () => string): void {
  app.addHook('onRequest', (request, reply, done) => {
    const base = baseUrl();
    if (!base.startsWith('https://')) return done();
    if (request.protocol === 'https') {
      void reply.header('strict-transport-security', HSTS);
      return done();
    }
    if (PLAIN_PATHS.test(request.url.split('?', 1)[0] ?? '')) return done();
    void refusePlain(request, reply, base);
  });
}

function refusePlain({ method, url }: FastifyRequest, reply: FastifyReply, base: string): FastifyReply {
  const origin = new URL(base).origin;
  if (method === 'GET' || method === 'HEAD') return reply.redirect(`${origin}${url}`, 308);
  // The connection is not used again: the body, which may hold a password, is not read.
  void reply.header('connection', 'close');
  const message = `This server accepts no requests over plain HTTP. Use ${origin}, and change a secret that was sent.`;
  return sendRefusal(reply, { error: 'action_not_allowed', message });
}
