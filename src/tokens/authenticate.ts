import { anonymousCaller, type Caller, tokenCaller } from '../core/caller.ts';
import { hashOfSecret } from './oauth-secret.ts';
import type { AppContext } from '../core/app-context.ts';
import { findToken } from './commands.ts';
import { isToken, secretHash } from '../core/token.ts';
import { isUsableFrom, OTHER_NETWORK } from './token-validity.ts';

export type TokenAuthentication =
  | { readonly kind: 'caller'; readonly caller: Caller }
  /** No credential was presented. */
  | { readonly kind: 'nobody'; readonly caller: Caller }
  /** An invalid credential was presented; `why` says what to do. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Authenticates an Authorization header. Rejects an invalid credential even where none is needed, so that the client
 * notices the mistake.
 */
export async function authenticateToken(
  context: Pick<AppContext, 'settings' | 'store' | 'clock' | 'lastUsed'>,
  header: string | readonly string[] | undefined,
  way: Caller['way'],
  ip: string,
): Promise<TokenAuthentication> {
  if (header === undefined) return { kind: 'nobody', caller: anonymousCaller(way, ip) };
  const prefix = context.settings.tokenPrefix;
  const match = typeof header === 'string' ? /^Bearer +([^\s]+) *$/i.exec(header) : null;
  const secret = match?.[1];
  if (secret === undefined) return { kind: 'refused', why: 'the Authorization header must be "Bearer <token>"' };
  if (secret.startsWith(`${prefix}_ek_`)) {
    return { kind: 'refused', why: 'an email API key only sends mail (POST /api/email/send); use a token here' };
  }
  const access = hashOfSecret('access', secret, prefix);
  if (access === undefined && !isToken(secret, prefix))
    return { kind: 'refused', why: 'this is not a token of this server' };
  const token = await context.store.read(findToken, access === undefined ? { hash: secretHash(secret) } : { access });
  const now = context.clock();
  if (token === undefined || (token.expiresAt !== null && token.expiresAt <= now)) {
    return { kind: 'refused', why: 'the token is unknown, expired or revoked' };
  }
  if (!isUsableFrom(token, ip)) return { kind: 'refused', why: OTHER_NETWORK };
  context.lastUsed.token(token.id, now);
  return { kind: 'caller', caller: tokenCaller(token, way, ip) };
}
