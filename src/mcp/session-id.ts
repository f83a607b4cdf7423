import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

export const SESSION_MS = 3_600_000;
const NONCE_BYTES = 16;
const MAC_BYTES = 24;

/** What an Mcp-Session-Id says once its signature was found good. */
export interface SessionId {
  /** Row of the token that it speaks for; 0: nobody, until it is bound. */
  token: number;
  /** ms UTC. */
  expiresAt: number;
  nonce: Buffer;
  text: string;
}

/**
 * Mints and reads session ids: token, expiry and 128 random bits under a MAC. Nothing is written to mint one, so a
 * restart loses none; the token itself is looked at again at each use.
 */
export class SessionIds {
  // Octets would be made a key at each use, which costs four times the MAC.
  readonly #key: KeyObject;

  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  mint(token: number, now: number): SessionId {
    const nonce = randomBytes(NONCE_BYTES);
    const expiresAt = now + SESSION_MS;
    const body = `${token.toString(36)}.${expiresAt.toString(36)}.${nonce.toString('base64url')}`;
    return { token, expiresAt, nonce, text: `ses_${body}.${this.#mac(body)}` };
  }

  /** Undefined for what this box never gave out. Expiry is the caller's to judge. */
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

/** As whoami shows it: enough to tell two apart, not enough to use one. */
export function shownSession({ nonce }: SessionId): string {
  return `ses_..${nonce.toString('hex').slice(-4)}`;
}
