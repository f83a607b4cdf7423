import { randomBytes } from 'node:crypto';
import { secretHash } from '../tokens/token.ts';

const SECRET_BYTES = 24;

/** What a session's cookie or a link's URL carries: 192 random bits. Only its hash is stored. */
export function newSecret(): { secret: string; hash: Uint8Array } {
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  return { secret, hash: Uint8Array.from(secretHash(secret)) };
}
