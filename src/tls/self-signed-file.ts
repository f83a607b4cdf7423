import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

import { selfSigned } from './certificate.ts';
import type { CertificatePair } from './certificate.ts';

const RENEW_MS = 30 * 24 * 60 * 60_000;

/**
 * The self-signed certificate of this box, kept in one file under `dataDir`/tls so that clients which were told to trust
 * it go on doing so. Made anew when it is missing, damaged, for another name, or about to expire.
 */
export async function ownCertificate(dataDir: string, hostname: string, now: number): Promise<CertificatePair> {
  const directory = join(dataDir, 'tls');
  const path = join(directory, 'self-signed.pem');
  const kept = await read(path);
  if (kept && isGood(kept, hostname, now)) return kept;
  const made = await selfSigned([...new Set([hostname, 'localhost'])], ['127.0.0.1', '::1'], now);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replace(path, made.key + made.cert);
  return made;
}

/** True when the pair belongs together, is for `hostname` and stays valid for a while. */
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
