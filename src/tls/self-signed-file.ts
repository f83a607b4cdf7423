import { createPrivateKey, randomBytes, X509Certificate, webcrypto } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

const RENEW_MS = 30 * 24 * 60 * 60_000;

/**
 * Loads the box's self-signed certificate from `dataDir`/tls, so that clients that pinned it stay connected. Creates a
 * new one if it is missing, damaged, for another name, or about to expire.
 */
export async function loadSelfSigned(dataDir: string, hostname: string, now: number): Promise<CertificatePair> {
  const directory = join(dataDir, 'tls');
  const path = join(directory, 'self-signed.pem');
  const kept = await read(path);
  if (kept && isGood(kept, hostname, now)) return kept;
  const made = await selfSigned([...new Set([hostname, 'localhost'])], ['127.0.0.1', '::1'], now);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replace(path, made.key + made.cert);
  return made;
}

/** Checks that key and certificate match, cover `hostname` and stay valid for a while. */
function isGood(pair: CertificatePair, hostname: string, now: number): boolean {
  try {
    const certificate = new X509Certificate(pair.cert);
    const fits = certificate.checkPrivateKey(createPrivateKey(pair.key));
    return fits && certificate.checkHost(hostname) !== undefined && Date.parse(certificate.validTo) > now + RENEW_MS;
  } catch {
    return false;
  }
}

async function read(path: string): Promise<CertificatePair | undefined> {
  const text = await readFile(path, 'latin1').catch(() => '');
  const start = text.indexOf('-----BEGIN CERTIFICATE-----');
  return start < 0 ? undefined : { key: text.slice(0, start), cert: text.slice(start) };
}

async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

export interface CertificatePair {
  /** PEM. */
  cert: string;
  /** PEM, PKCS#8. */
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 60 * 60_000;
// Apple's clients reject server certificates valid for more than 825 days.
const VALID_DAYS = 820;

/** Creates a self-signed server certificate for names and addresses. The first name is the subject. */
export async function selfSigned(hostnames: string[], ips: string[], now = Date.now()): Promise<CertificatePair> {
  // Loaded on demand: configured certificates never need it. x509 requires the polyfill first.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serial(),
      name: [{ CN: [hostnames[0] ?? 'localhost'] }],
      notBefore: new Date(now - DAY_MS), // tolerates slow client clocks
      notAfter: new Date(now + VALID_DAYS * DAY_MS),
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

/** Generates a serial number: 16 random octets as hex, positive, no leading zero octet. RFC 5280 4.1.2.2. */
function serial(): string {
  const octets = randomBytes(16);
  octets[0] = ((octets[0] ?? 0) & 0x3f) | 0x40;
  return octets.toString('hex');
}
