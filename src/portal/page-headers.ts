import type { FastifyReply } from 'fastify';

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/**
 * Sets the security headers of a page. No cache keeps it: it depends on cookies, and on the languages of the browser. `withScript` allows the scripts of the portal.
 * `redirectSource` is a CSP source to which a form may redirect: browsers apply form-action to redirects.
 */
export function pageHeaders(reply: FastifyReply, withScript = false, redirectSource?: string): void {
  const policy =
    redirectSource === undefined
      ? POLICY
      : POLICY.replace("form-action 'self'", `form-action 'self' ${redirectSource}`);
  void reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', withScript ? `${policy}; script-src 'self'; connect-src 'self'` : policy)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('x-frame-options', 'DENY')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('permissions-policy', 'camera=(), microphone=(), geolocation=()');
}
