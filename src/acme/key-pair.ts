import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';

export const KEY_ALGORITHMS = ['ecdsa', 'rsa'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];

const generate = promisify(generateKeyPair);
const RSA_BITS = 2048;

const WEB_ALGORITHMS = {
  ecdsa: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
} as const;

/** Creates a private key, as PKCS#8 PEM. */
export async function createKey(algorithm: KeyAlgorithm): Promise<string> {
  const { privateKey } =
    algorithm === 'ecdsa'
      ? await generate('ec', { namedCurve: 'P-256' })
      : await generate('rsa', { modulusLength: RSA_BITS });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** SHA-256 of the SubjectPublicKeyInfo of a private or public key: the data of a TLSA record 3 1 1. RFC 7671 5.1. */
export function publicKeyHash(key: string | KeyObject): Buffer {
  return createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest();
}

/** Creates a certificate request for names, DER. RFC 2986. */
export async function certificateRequest(pem: string, algorithm: KeyAlgorithm, names: readonly string[]) {
  const { keys, signingAlgorithm, x509 } = await webKeys(pem, algorithm);
  const alternatives = names.map((value) => ({ type: 'dns' as const, value }));
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    { keys, signingAlgorithm, extensions: [new x509.SubjectAlternativeNameExtension(alternatives)] },
    webcrypto,
  );
  return new Uint8Array(request.rawData);
}

const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
const HOUR_MS = 3_600_000;

/** Creates the self-signed certificate that answers a TLS-ALPN-01 challenge. RFC 8737 3. */
export async function alpnCertificate(name: string, keyAuthorization: string, now: number) {
  const key = await createKey('ecdsa');
  const { keys, signingAlgorithm, x509 } = await webKeys(key, 'ecdsa');
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: '01',
      name: 'CN=acme-tls-alpn-01',
      notBefore: new Date(now - 24 * HOUR_MS),
      notAfter: new Date(now + 24 * HOUR_MS),
      signingAlgorithm,
      keys,
      extensions: [
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
        // An OCTET STRING with the digest.
        new x509.Extension(ACME_IDENTIFIER, true, Buffer.concat([Buffer.from('0420', 'hex'), digest])),
      ],
    },
    webcrypto,
  );
  return { cert: certificate.toString('pem'), key };
}

async function webKeys(pem: string, algorithm: KeyAlgorithm) {
  // Loaded on demand; x509 requires the polyfill first.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const signingAlgorithm = WEB_ALGORITHMS[algorithm];
  const [secret, open] = [createPrivateKey(pem), createPublicKey(pem)];
  const keys = {
    privateKey: await webcrypto.subtle.importKey(
      'pkcs8',
      secret.export({ type: 'pkcs8', format: 'der' }),
      signingAlgorithm,
      true,
      ['sign'],
    ),
    publicKey: await webcrypto.subtle.importKey(
      'spki',
      open.export({ type: 'spki', format: 'der' }),
      signingAlgorithm,
      true,
      ['verify'],
    ),
  };
  return { keys, signingAlgorithm, x509 };
}
