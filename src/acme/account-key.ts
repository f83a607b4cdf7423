import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** Header of a signed request. RFC 8555 6.2. */
interface ProtectedHeader {
  nonce: string;
  url: string;
  /** URL of the account; left out: the public key itself is sent. */
  kid?: string;
}

/** The P-256 key of an account at an authority. Signs its requests (ES256). RFC 7518 3.4. */
export class AccountKey {
  readonly #key: KeyObject;
  readonly #jwk: { crv: string; kty: string; x: string; y: string };
  /** RFC 7638. */
  readonly thumbprint: string;

  /** `pem` is PKCS#8, as {@link createAccountKey} makes it. */
  constructor(pem: string) {
    this.#key = createPrivateKey(pem);
    const { crv = '', kty = '', x = '', y = '' } = createPublicKey(this.#key).export({ format: 'jwk' });
    // In this order: the thumbprint is over the members in lexicographic order.
    this.#jwk = { crv, kty, x, y };
    this.thumbprint = createHash('sha256').update(JSON.stringify(this.#jwk)).digest('base64url');
  }

  /** Body of a signed request; '' as payload is POST-as-GET. RFC 8555 6.3. */
  sign({ nonce, url, kid }: ProtectedHeader, payload: object | ''): string {
    const header = { alg: 'ES256', nonce, url, ...(kid === undefined ? { jwk: this.#jwk } : { kid }) };
    const head = base64url(JSON.stringify(header));
    const body = payload === '' ? '' : base64url(JSON.stringify(payload));
    const key = { key: this.#key, dsaEncoding: 'ieee-p1363' as const };
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), key).toString('base64url');
    return JSON.stringify({ protected: head, payload: body, signature });
  }

  /** Proof that this account answers a challenge. RFC 8555 8.1. */
  keyAuthorization(token: string): string {
    return `${token}.${this.thumbprint}`;
  }
}

/** Creates a key, as PKCS#8 PEM. */
export function createAccountKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
