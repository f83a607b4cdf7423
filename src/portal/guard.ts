import type { FastifyReply, FastifyRequest } from 'fastify';
import type { World } from '../operations/world.ts';

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/**
 * What every page is sent with. Pages that a link opened may run the one script that takes its token away. `answeredAt`
 * is a source to which the answer to a form may lead, as browsers hold form-action against redirects, too.
 */
export function pageHeaders(reply: FastifyReply, withScript = false, answeredAt?: string): void {
  const policy =
    answeredAt === undefined ? POLICY : POLICY.replace("form-action 'self'", `form-action 'self' ${answeredAt}`);
  void reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', withScript ? `${policy}; script-src 'self'` : policy)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('x-frame-options', 'DENY')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('permissions-policy', 'camera=(), microphone=(), geolocation=()');
}

/**
 * Whether a form was sent from a page of ours. Browsers say where a request comes from in a header that pages cannot
 * set: Sec-Fetch-Site, or Origin where that is not known. As our pages send no referrer, Origin alone may be "null",
 * which is nobody; what says nothing at all is no browser with a form of ours.
 */
export function isOwnForm(world: Pick<World, 'baseUrl'>, request: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin, host } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).origin === new URL(world.baseUrl()).origin || origin === `${request.protocol}://${host}`;
}

/** The fields of a form, each once. What was sent several times is a list under its name with `[]`. */
export class Fields {
  readonly #body: Readonly<Record<string, unknown>>;

  constructor(body: unknown) {
    this.#body = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }

  /** A field's text, '' when it was not sent or sent twice. */
  text(name: string): string {
    const value = this.#body[name];
    return typeof value === 'string' ? value : '';
  }

  /** A field's text without space around it; undefined when nothing was written. */
  line(name: string): string | undefined {
    const text = this.text(name).trim();
    return text === '' ? undefined : text;
  }

  /** What was ticked or chosen under a name. */
  list(name: string): string[] {
    const value = this.#body[name];
    const all = Array.isArray(value) ? (value as unknown[]) : [value];
    return all.filter((one): one is string => typeof one === 'string' && one !== '');
  }
}
