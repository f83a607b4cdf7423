import { anonymousCaller, type Caller, tokenCaller } from '../operations/caller.ts';
import { hashOfSecret } from '../oauth/secret.ts';
import type { World } from '../operations/world.ts';
import { findToken } from './commands.ts';
import { isToken, secretHash } from './token.ts';

export type Authenticated =
  | { readonly kind: 'caller'; readonly caller: Caller }
  /** Nothing was presented. */
  | { readonly kind: 'nobody'; readonly caller: Caller }
  /** Something was presented that does not hold; the sentence says what to do. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Reads an Authorization header. A credential that does not hold is refused even where none would have been needed: it
 * is a mistake that somebody wants to know of.
 */
export async function authenticate(
  world: World,
  header: string | readonly string[] | undefined,
  way: Caller['way'],
  ip: string,
): Promise<Authenticated> {
  if (header === undefined) return { kind: 'nobody', caller: anonymousCaller(way, ip) };
  const prefix = world.settings.tokenPrefix;
  const match = typeof header === 'string' ? /^Bearer +([^\s]+) *$/i.exec(header) : null;
  const secret = match?.[1];
  if (secret === undefined) return { kind: 'refused', why: 'the Authorization header must be "Bearer <token>"' };
  if (secret.startsWith(`${prefix}_ek_`)) {
    return { kind: 'refused', why: 'an email API key only sends mail (POST /api/email/send); use a token here' };
  }
  const access = hashOfSecret('access', secret, prefix);
  if (access === undefined && !isToken(secret, prefix)) return { kind: 'refused', why: 'this is no token of this box' };
  const token = await world.store.read(findToken, access === undefined ? { hash: secretHash(secret) } : { access });
  const now = world.clock();
  if (token === undefined || (token.expiresAt !== null && token.expiresAt <= now)) {
    return { kind: 'refused', why: 'the token is unknown, expired or revoked' };
  }
  world.lastUsed.token(token.id, now);
  return { kind: 'caller', caller: tokenCaller(token, way, ip) };
}
