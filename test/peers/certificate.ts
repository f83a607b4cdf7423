import { createHash, X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Box } from '../support/box.ts';

/** The certificate that a box made for itself, for programs that are to trust it. */
export interface BoxCertificate {
  /** File with the certificate alone. */
  readonly file: string;
  /** Fingerprint without separators, in lower case. */
  readonly sha1: string;
  /** Fingerprint with colons. */
  readonly md5: string;
}

/** Writes the certificate of a box into a directory. */
export async function certificateOf(box: Box, directory: string): Promise<BoxCertificate> {
  const pem = await readFile(join(box.dataDir, 'tls', 'self-signed.pem'), 'latin1');
  const certificate = new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')));
  const file = join(directory, 'certificate.pem');
  await writeFile(file, certificate.toString());
  const digest = createHash('md5').update(certificate.raw).digest('hex').toUpperCase();
  return {
    file,
    sha1: certificate.fingerprint.replaceAll(':', '').toLowerCase(),
    md5: (digest.match(/../g) ?? []).join(':'),
  };
}
