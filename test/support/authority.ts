import { webcrypto, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const WHOLE: Validity = { notBefore: '2020-01-01', notAfter: '2050-01-01' };

interface Validity {
  notBefore: string;
  notAfter: string;
}

/** A certificate with its chain, as a server shows it. */
export interface Issued {
  cert: string;
  key: string;
  /** Its own certificate. */
  leaf: X509Certificate;
  context: SecureContext;
}

/** An authority that signs what it is asked to. */
export interface Authority {
  pem: string;
  certificate: X509Certificate;
  /** A certificate for these names; the authority's own is sent along unless `alone`. */
  issue(names: readonly string[], options?: Partial<Validity> & { alone?: boolean; cn?: string }): Promise<Issued>;
  /** A certificate for the key of a request (DER), without the authority's own. PEM. */
  certify(request: Uint8Array, names: readonly string[], validity?: Partial<Validity>): Promise<string>;
}

let serial = 1;

/** Makes an authority that nobody knows. */
export async function testAuthority(name = 'Test Authority'): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const root = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...dates(WHOLE),
      serialNumber: nextSerial(),
      name: `CN=${name}`,
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
    },
    webcrypto,
  );
  const pem = root.toString('pem');
  const certified = async (
    publicKey: x509.PublicKeyType,
    names: readonly string[],
    { cn = 'server', ...validity }: Partial<Validity> & { cn?: string },
  ): Promise<string> => {
    const alternatives = names.map((value) => ({ type: 'dns' as const, value }));
    const certificate = await x509.X509CertificateGenerator.create(
      {
        ...dates({ ...WHOLE, ...validity }),
        serialNumber: nextSerial(),
        subject: `CN=${cn}`,
        issuer: root.subject,
        signingAlgorithm: ALGORITHM,
        publicKey,
        signingKey: keys.privateKey,
        extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(alternatives)],
      },
      webcrypto,
    );
    return certificate.toString('pem');
  };
  return {
    pem,
    certificate: new X509Certificate(pem),
    async issue(names, { alone = false, ...options } = {}) {
      const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const leaf = await certified(own.publicKey, names, options);
      const cert = alone ? leaf : `${leaf}\n${pem}`;
      const key = await pemKey(own.privateKey);
      return { cert, key, leaf: new X509Certificate(leaf), context: createSecureContext({ cert, key }) };
    },
    certify: (request, names, validity = {}) =>
      certified(new x509.Pkcs10CertificateRequest(request).publicKey, names, validity),
  };
}

function dates({ notBefore, notAfter }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(notBefore), notAfter: new Date(notAfter) };
}

function nextSerial(): string {
  serial += 1;
  return serial.toString(16).padStart(2, '0');
}

async function pemKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${(der.match(/.{1,64}/g) ?? []).join('\n')}\n-----END PRIVATE KEY-----\n`;
}
