import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { randomOctets } from '../core/random-octets.ts';

export const SESSION_MS = 3_600_000;
const NONCE_BYTES = 16;
const MAC_BYTES = 24;

/** A verified Mcp-Session-Id. */
export interface SessionId {
  /** Row id of its token; 0 for an anonymous session. */
  token: number;
  /** ms UTC. */
  expiresAt: number;
  nonce: Buffer;
  text: string;
}

/**
 * Creates and verifies session ids: token, expiry and 128 random bits under a MAC. Stateless, so sessions survive a
 * restart; the token is rechecked at each use.
 */
export class SessionIds {
  // A KeyObject, because converting octets at each use costs four times the MAC.
  readonly #key: KeyObject;

  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  mint(token: number, now: number): SessionId {
    const nonce = randomOctets(NONCE_BYTES);
    const expiresAt = now + SESSION_MS;
    const body = `${token.toString(36)}.${expiresAt.toString(36)}.${nonce.toString('base64url')}`;
    return { token, expiresAt, nonce, text: `ses_${body}.${this.#mac(body)}` };
  }

  /** Undefined for ids that this server did not create. Does not check expiry. */
  read(text: string): SessionId | undefined {
    const match = /^ses_(([0-9a-z]{1,9})\.([0-9a-z]{1,10})\.([\w-]{22}))\.([\w-]{32})$/.exec(text);
    if (match === null) return undefined;
    const [, body = '', token = '', expiry = '', nonce = '', mac = ''] = match;
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(this.#mac(body)))) return undefined;
    return {
      token: Number.parseInt(token, 36),
      expiresAt: Number.parseInt(expiry, 36),
      nonce: Buffer.from(nonce, 'base64url'),
      text,
    };
  }

  #mac(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest().subarray(0, MAC_BYTES).toString('base64url');
  }
}

/** Shortened form for whoami: distinguishes sessions, but cannot be used. */
export function shownSession({ nonce }: SessionId): string {
  return `ses_..${nonce.toString('hex').slice(-4)}`;
}
