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

/** Refuses requests with several Host fields: a proxy may read another one than this server. RFC 9112 3.2. */
export function requireOneHost(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { rawHeaders } }, reply) => {
    const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host');
    if (hosts.length <= 1) return undefined;
    const message = 'The request has several Host fields. Send one.';
    return reply.code(400).header('connection', 'close').send({ error: 'invalid_arguments', message });
  });
}
