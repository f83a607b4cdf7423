import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../mail/guard/network.ts';
import { hashOf } from '../people/secrets.ts';
import { SESSION_LIFE_MS } from '../people/session-commands.ts';

/** The prefix binds the cookie to this host, this path and TLS: no neighbor can set it for us. */
const OVER_TLS = '__Host-mailstead';
/** Only on this machine, where there is nothing between browser and server. */
const IN_CLEAR = 'mailstead';

function nameOf(request: FastifyRequest): string {
  return request.protocol === 'https' ? OVER_TLS : IN_CLEAR;
}

/** Whether a session may be begun on this connection: over TLS, or on this machine. */
export function isPrivate(request: FastifyRequest): boolean {
  return request.protocol === 'https' || isLoopback(request.ip);
}

/** What the session cookie carries, when it can be one. */
export function sessionSecret(request: FastifyRequest): string | undefined {
  const value = request.cookies[nameOf(request)];
  return hashOf(value) === undefined ? undefined : value;
}

export function setSession(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  void reply.setCookie(nameOf(request), secret, { ...flags(request), maxAge: SESSION_LIFE_MS / 1000 });
}

export function clearSession(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(nameOf(request), flags(request));
}

function flags(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: request.protocol === 'https' } as const;
}
