import { randomBytes, webcrypto } from 'node:crypto';

export interface CertificatePair {
  /** PEM. */
  cert: string;
  /** PEM, PKCS#8. */
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 60 * 60_000;
// Apple's clients refuse a certificate of a server that is valid for more than 825 days, whoever issued it.
const DAYS = 820;

/** Makes a self-signed server certificate for these names and addresses. The first name is its subject. */
export async function selfSigned(hostnames: string[], ips: string[], now = Date.now()): Promise<CertificatePair> {
  // Loaded only here: a box with a certificate of its own never needs it.
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serial(),
      name: [{ CN: [hostnames[0] ?? 'localhost'] }],
      notBefore: new Date(now - DAY_MS), // clients whose clocks are a little slow
      notAfter: new Date(now + DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([
          ...hostnames.map((value) => ({ type: 'dns' as const, value })),
          ...ips.map((value) => ({ type: 'ip' as const, value })),
        ]),
      ],
    },
    webcrypto,
  );
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: `${certificate.toString('pem')}\n`, key: x509.PemConverter.encode(key, 'PRIVATE KEY') + '\n' };
}

/** 16 random octets as hex, positive and without a leading zero octet. RFC 5280 4.1.2.2. */
function serial(): string {
  const octets = randomBytes(16);
  octets[0] = ((octets[0] ?? 0) & 0x3f) | 0x40;
  return octets.toString('hex');
}
