const DAY_MS = 24 * 3_600_000;
const MAX_TEXT = 300;

/** A problem document of the authority. RFC 8555 6.7. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem';
  /** Without `urn:ietf:params:acme:error:`. */
  readonly type: string;
  readonly status: number;
  /** Pause that the authority demands, ms. */
  readonly retryAfterMs: number | undefined;

  constructor(type: string, status: number, detail: string, retryAfterMs: number | undefined) {
    super(`the authority refused (${type}): ${detail}`);
    this.type = type;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The authority is unreachable, or its response cannot be used. */
export class AuthorityUnavailable extends Error {
  override readonly name = 'AuthorityUnavailable';
}

/** A name whose control the authority could not verify. */
export interface RefusedName {
  name: string;
  /** Challenge that failed. */
  challenge: string;
  why: string;
}

/** The authority could not verify some names of an order. */
export class NamesRefused extends Error {
  override readonly name = 'NamesRefused';
  readonly names: readonly RefusedName[];

  constructor(names: readonly RefusedName[]) {
    super(names.map(({ name, challenge, why }) => `${name} (${challenge}): ${why}`).join('; '));
    this.names = names;
  }
}

/** Reads a problem document. The text is the authority's: shortened, one line. */
export function readAcmeProblem(status: number, body: unknown, retryAfterMs: number | undefined): AcmeProblem {
  const { type, detail } = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const short = typeof type === 'string' ? type.replace(/^urn:ietf:params:acme:error:/, '') : `HTTP ${status}`;
  const text = typeof detail === 'string' ? shortLine(detail) : 'no explanation';
  return new AcmeProblem(shortLine(short), status, text, retryAfterMs);
}

/** Shortens a text of the authority to one line without controls. */
export function shortLine(text: string): string {
  const plain = text
    .slice(0, MAX_TEXT)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  return text.length > MAX_TEXT ? `${plain}...` : plain;
}

/** Reads Retry-After, seconds or a date, as ms from `now`; at most a day. RFC 9110 10.2.3. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(DAY_MS, Math.max(0, ms));
}
