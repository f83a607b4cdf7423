import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export interface TestCertificate {
  cert: string;
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const made = new Map<string, Promise<TestCertificate>>();

/** A self-signed certificate and its key as PEM, for `localhost`, 127.0.0.1 and the names given. Made once a process. */
export function testCertificate(...names: string[]): Promise<TestCertificate> {
  const key = names.join(',');
  let certificate = made.get(key);
  if (certificate === undefined) made.set(key, (certificate = make(['localhost', ...names])));
  return certificate;
}

async function make(names: string[]): Promise<TestCertificate> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: '01',
      name: `CN=${names.at(-1) ?? 'localhost'}`,
      notBefore: new Date('2020-01-01'),
      notAfter: new Date('2050-01-01'),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.SubjectAlternativeNameExtension([
          ...names.map((value) => ({ type: 'dns' as const, value })),
          { type: 'ip' as const, value: '127.0.0.1' },
        ]),
      ],
    },
    webcrypto,
  );
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = der.match(/.{1,64}/g) ?? [];
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
  };
}
