import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../mail/guard/network.ts';
import { hashOf, newSecret } from '../people/secrets.ts';
import { PENDING_SIGN_IN_MS } from '../people/pending-commands.ts';
import { SESSION_LIFE_MS } from '../people/session-commands.ts';

/** The __Host- prefix binds the cookie to this host, path / and TLS: a sibling domain cannot set it. RFC 6265bis 4.1.3.2. */
const OVER_TLS = '__Host-mailstead';
/** For loopback without TLS only. */
const WITHOUT_TLS = 'mailstead';

/** Ending of the cookie that recognizes a browser at its next sign-in. It opens nothing. */
const DEVICE = '-device';
/** Browsers shorten longer ones: RFC 6265bis 5.5. */
const DEVICE_LIFE_S = 400 * 24 * 3600;
/** Ending of the cookie of a sign-in that waits for its second factor. It is no session under any page. */
const STEP = '-step';

function nameOf(request: FastifyRequest): string {
  return request.protocol === 'https' ? OVER_TLS : WITHOUT_TLS;
}

/** True if a session may start on this connection: TLS or loopback. */
export function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https' || isLoopback(request.ip);
}

/** The secret in the session cookie; undefined if missing or malformed. */
export function sessionSecret(request: FastifyRequest): string | undefined {
  const value = request.cookies[nameOf(request)];
  return hashOf(value) === undefined ? undefined : value;
}

export function setSession(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  void reply.setCookie(nameOf(request), secret, { ...flags(request), maxAge: SESSION_LIFE_MS / 1000 });
  const device = deviceOf(request).secret;
  void reply.setCookie(`${nameOf(request)}${DEVICE}`, device, { ...flags(request), maxAge: DEVICE_LIFE_S });
}

const NEW_DEVICES = new WeakMap<FastifyRequest, ReturnType<typeof newSecret>>();

/** The secret that recognizes the browser of a request: of its cookie, else a new one, the same within the request. */
export function deviceOf(request: FastifyRequest): { secret: string; hash: Uint8Array } {
  const secret = request.cookies[`${nameOf(request)}${DEVICE}`];
  const hash = hashOf(secret);
  if (secret !== undefined && hash !== undefined) return { secret, hash };
  const made = NEW_DEVICES.get(request) ?? newSecret();
  NEW_DEVICES.set(request, made);
  return made;
}

export function clearSession(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(nameOf(request), flags(request));
}

/** The secret of a sign-in that waits for its second factor; undefined if missing or malformed. */
export function stepSecret(request: FastifyRequest): string | undefined {
  const value = request.cookies[`${nameOf(request)}${STEP}`];
  return hashOf(value) === undefined ? undefined : value;
}

export function setStep(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  const name = `${nameOf(request)}${STEP}`;
  void reply.setCookie(name, secret, { ...flags(request), maxAge: PENDING_SIGN_IN_MS / 1000 });
}

export function clearStep(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(`${nameOf(request)}${STEP}`, flags(request));
}

function flags(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: request.protocol === 'https' } as const;
}
