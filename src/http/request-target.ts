import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/**
 * Returns the path and query of a request target. The absolute form is valid too (RFC 9112 3.2.2); other forms, as `*`,
 * become a path that no route has. Bounded by the size of a header.
 */
export function originForm({ url = '/' }: { url?: string | undefined }): string {
  if (url.startsWith('/')) return url;
  const path = /^https?:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1];
  if (path === undefined) return `/${url}`;
  return path.startsWith('/') ? path : `/${path}`;
}

/** Refuses requests that a proxy may read in another way than this server, and closes their connections. */
export function refuseAmbiguous(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const message = ambiguityOf(raw);
    if (message === undefined) return done();
    void reply.code(400).header('connection', 'close').send({ error: 'invalid_arguments', message });
  });
}

function ambiguityOf({ rawHeaders, headers, upgrade }: IncomingMessage & { upgrade?: boolean }): string | undefined {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host');
  // RFC 9112 3.2.
  if (hosts.length > 1) return 'The request has several Host fields. Send one.';
  // Node reads nothing more of such a connection, neither the body nor an error in it.
  if (headers.upgrade === undefined || headers['transfer-encoding'] === undefined || upgrade === true) return undefined;
  return 'The request has Upgrade and Transfer-Encoding. Send one of them.';
}
