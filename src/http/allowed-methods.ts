import type { FastifyInstance } from 'fastify';

interface RoutePattern {
  method: string;
  segments: readonly string[];
}

/** Routes by HTTP server, which all contexts of one listener share. */
const tables = new WeakMap<object, RoutePattern[]>();

/**
 * Records the routes that are added from now on, for 405. Leaves out wildcards and routes for several methods, which
 * answer 405 themselves.
 */
export function recordRoutes(app: FastifyInstance): void {
  const routes: RoutePattern[] = [];
  tables.set(app.server, routes);
  app.addHook('onRoute', ({ method, url }) => {
    if (typeof method === 'string' && !url.includes('*')) routes.push({ method, segments: url.split('/') });
  });
}

/** Methods of the recorded routes at a path. RFC 9110 10.2.1. */
export function methodsAt(app: FastifyInstance, path: string): string[] {
  const given = path.split('/');
  const fits = ({ segments }: RoutePattern): boolean =>
    segments.length === given.length &&
    segments.every((one, i) => one === given[i] || (one.startsWith(':') && given[i] !== ''));
  return [...new Set((tables.get(app.server) ?? []).filter(fits).map(({ method }) => method))];
}
