import type { FastifyRequest } from 'fastify';
import type { AppContext } from '../core/app-context.ts';

/**
 * True if a page of this site sent the request (CSRF check): Sec-Fetch-Site, or Origin in older browsers. Pages cannot
 * set either. Refuses Origin "null" and requests with neither header.
 */
export function isOwnPage(context: Pick<AppContext, 'baseUrl'>, request: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin, host } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).origin === new URL(context.baseUrl()).origin || origin === `${request.protocol}://${host}`;
}
