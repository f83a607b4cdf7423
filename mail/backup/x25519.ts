import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';

export const X25519_OCTETS = 32;
/** DER of a public and of a private key of X25519, followed by 32 octets. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** The public key of a private key, which any 32 octets are. */
export function publicKeyOf(privateKey: Buffer): Buffer {
  const exported = createPublicKey(privateObject(privateKey)).export({ format: 'der', type: 'spki' });
  return exported.subarray(-X25519_OCTETS);
}

/**
 * Diffie-Hellman on X25519, RFC 7748 6.1. Undefined for a public key of small order: its secret is all zeros with every
 * private key, so everybody knows it.
 */
export function sharedSecret(privateKey: Buffer, publicKey: Buffer): Buffer | undefined {
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
  try {
    const secret = diffieHellman({ privateKey: privateObject(privateKey), publicKey: key });
    return secret.every((octet) => octet === 0) ? undefined : secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_OSSL_FAILED_DURING_DERIVATION') throw error;
    return undefined;
  }
}

function privateObject(octets: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, octets]), format: 'der', type: 'pkcs8' });
}
