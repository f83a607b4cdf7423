import { createHash, randomBytes } from 'node:crypto';
import { secretHash } from '../core/token.ts';

const SECRET_BYTES = 24;

/** Prefixes that distinguish codes, access tokens and refresh tokens from each other and from tokens and keys. */
const MARK = { code: 'oc', access: 'oa', refresh: 'or' } as const;
type Kind = keyof typeof MARK;

/** A secret of 192 random bits, such as `mst_oa_` and 48 hexadecimal digits. Only its hash is stored. */
export function makeSecret(kind: Kind, prefix: string): { secret: string; hash: Uint8Array } {
  const secret = `${startOf(kind, prefix)}${randomBytes(SECRET_BYTES).toString('hex')}`;
  return { secret, hash: Uint8Array.from(secretHash(secret)) };
}

/** The common prefix of all secrets of a kind. */
export function startOf(kind: Kind, prefix: string): string {
  return `${prefix}_${MARK[kind]}_`;
}

/** Hashes a presented secret; undefined if it is not of this kind. */
export function hashOfSecret(kind: Kind, text: string, prefix: string): Uint8Array | undefined {
  const start = startOf(kind, prefix);
  const fits = text.startsWith(start) && /^[0-9a-f]{48}$/.test(text.slice(start.length));
  return fits ? Uint8Array.from(secretHash(text)) : undefined;
}

/** Checks for a valid S256 code_challenge, the only supported method. RFC 7636 4.2. */
export function isChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Computes the challenge of a code_verifier; undefined if invalid. RFC 7636 4.1, 4.6. */
export function challengeOf(verifier: string): string | undefined {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return undefined;
  return createHash('sha256').update(verifier, 'ascii').digest('base64url');
}
