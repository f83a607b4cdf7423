import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const makePair = promisify(generateKeyPair);

export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A new private key as PKCS#8 PEM: RSA-2048 or Ed25519. Made off the calling thread. RFC 8301 3.2, RFC 8463. */
export async function makeDkimKey(algorithm: DkimAlgorithm): Promise<string> {
  const { privateKey } =
    algorithm === 'rsa-sha256' ? await makePair('rsa', { modulusLength: 2048 }) : await makePair('ed25519', {});
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Reads a private key made by {@link makeDkimKey}. Throws on what is no key. */
export function readDkimKey(pem: string): KeyObject {
  return createPrivateKey(pem);
}

/**
 * The text of the TXT record at `selector._domainkey.domain` for a private key. An RSA key is longer than 255 octets:
 * whoever writes the record splits the text into character-strings. RFC 6376 3.6.1, RFC 8463 4.
 */
export function dkimRecord(key: KeyObject): string {
  const publicKey = createPublicKey(key);
  if (key.asymmetricKeyType === 'ed25519') {
    // RFC 8463 4: the bare 32 octets, not the SubjectPublicKeyInfo around them.
    const { x = '' } = publicKey.export({ format: 'jwk' });
    return `v=DKIM1; k=ed25519; p=${Buffer.from(x, 'base64url').toString('base64')}`;
  }
  return `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
}
