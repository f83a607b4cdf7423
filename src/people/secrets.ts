import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { secretHash } from '../core/token.ts';

const SECRET_BYTES = 24;
const PURPOSE = 'form';

/** Creates the secret of a session's cookie or a link's URL: 192 random bits. Only its hash is stored. */
export function newSecret(): { secret: string; hash: Uint8Array } {
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  return { secret, hash: Uint8Array.from(secretHash(secret)) };
}

/** Hashes a secret as received; undefined if it has the wrong form. */
export function hashOf(text: unknown): Uint8Array | undefined {
  return typeof text === 'string' && /^[0-9a-f]{48}$/.test(text) ? Uint8Array.from(secretHash(text)) : undefined;
}

/** CSRF token of a session's forms: derived from the cookie, so it is not stored, and does not reveal the cookie. */
export function formToken(secret: string): string {
  return createHmac('sha256', secret).update(PURPOSE).digest('base64url');
}

export function isFormToken(given: unknown, secret: string): boolean {
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(formToken(secret))];
  return a.length === b.length && timingSafeEqual(a, b);
}
