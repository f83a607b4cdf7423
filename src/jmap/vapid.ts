import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { SecretBox } from '../../mail/store/secrets.ts';

/** Push services take no more than a day. RFC 8292 2. */
const VALID_S = 12 * 3600;

/** Says to push services who pushes. RFC 8292; its public key is in the session. RFC 9749. */
export class Vapid {
  /** Uncompressed point, base64url. */
  readonly publicKey: string;
  readonly #key: KeyObject;
  readonly #subject: string;

  /** The key is derived from the box's own, so that subscriptions outlive a restart. `subject`: whom to ask. */
  constructor(secrets: SecretBox, subject: string) {
    const ecdh = createECDH('prime256v1');
    const secret = secrets.subkey('web push');
    ecdh.setPrivateKey(secret);
    const point = ecdh.getPublicKey();
    this.publicKey = point.toString('base64url');
    this.#subject = subject;
    const x = point.toString('base64url', 1, 33);
    const y = point.toString('base64url', 33);
    const jwk = { kty: 'EC', crv: 'P-256', x, y, d: secret.toString('base64url') };
    this.#key = createPrivateKey({ key: jwk, format: 'jwk' });
  }

  /** The Authorization header for a push to this URL. `now` is ms UTC. */
  authorization(url: URL, now: number): string {
    const claims = { aud: url.origin, exp: Math.floor(now / 1000) + VALID_S, sub: this.#subject };
    const text = [{ typ: 'JWT', alg: 'ES256' }, claims]
      .map((one) => Buffer.from(JSON.stringify(one)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `vapid t=${text}.${signature.toString('base64url')}, k=${this.publicKey}`;
  }
}
