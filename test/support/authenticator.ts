import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Said } from './mcp.ts';

/** Parts of an answer that an attacker changes. */
export interface PasskeyForgery {
  type?: string;
  origin?: string;
  rpId?: string;
  challenge?: string;
  flags?: number;
  counter?: number;
  crossOrigin?: boolean;
  /** Id in the authenticator data. */
  attestedId?: Buffer;
  publicKey?: Buffer;
}

const PRESENT_VERIFIED = 0x05;
const ATTESTED = 0x40;

/** Key pairs of the supported algorithms. */
const PAIRS = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

/** An authenticator in software, with one passkey. Its answers are those that the script of the page sends. */
export class SoftAuthenticator {
  readonly id = randomBytes(32);
  readonly #key: KeyObject;
  readonly #spki: Buffer;
  readonly #origin: string;
  counter = 0;

  constructor(origin: string, algorithm: keyof typeof PAIRS = 'ES256') {
    const { publicKey, privateKey } = PAIRS[algorithm]();
    this.#key = privateKey;
    this.#spki = publicKey.export({ format: 'der', type: 'spki' });
    this.#origin = origin;
  }

  create(page: Said, forged: PasskeyForgery = {}): string {
    const length = Buffer.alloc(2);
    const attested = forged.attestedId ?? this.id;
    length.writeUInt16BE(attested.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, attested, Buffer.from([0xa0])]);
    const head = this.#head({ flags: PRESENT_VERIFIED | ATTESTED, ...forged });
    return JSON.stringify({
      id: this.id.toString('base64url'),
      clientDataJSON: this.#clientData('webauthn.create', page, forged).toString('base64url'),
      authenticatorData: Buffer.concat([head, credential]).toString('base64url'),
      publicKey: (forged.publicKey ?? this.#spki).toString('base64url'),
    });
  }

  get(page: Said, forged: PasskeyForgery = {}): string {
    const head = this.#head(forged);
    const clientData = this.#clientData('webauthn.get', page, forged);
    const signed = Buffer.concat([head, createHash('sha256').update(clientData).digest()]);
    const digest = this.#key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    return JSON.stringify({
      id: this.id.toString('base64url'),
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: head.toString('base64url'),
      signature: sign(digest, signed, this.#key).toString('base64url'),
    });
  }

  #head({ rpId, flags = PRESENT_VERIFIED, counter }: PasskeyForgery): Buffer {
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags, 0);
    rest.writeUInt32BE(counter ?? this.counter, 1);
    const host = rpId ?? new URL(this.#origin).hostname;
    return Buffer.concat([createHash('sha256').update(host).digest(), rest]);
  }

  #clientData(type: string, page: Said, forged: PasskeyForgery): Buffer {
    const { crossOrigin = false } = forged;
    const challenge = forged.challenge ?? optionsOf(page).challenge;
    const origin = forged.origin ?? this.#origin;
    return Buffer.from(JSON.stringify({ type: forged.type ?? type, challenge, origin, crossOrigin }));
  }
}

/** Options of a page that uses a passkey. */
export function optionsOf({ text }: Said): { challenge: string } & Record<string, unknown> {
  const json = /data-options="([^"]+)"/.exec(text)?.[1] ?? '{}';
  return JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&amp;', '&')) as { challenge: string };
}
