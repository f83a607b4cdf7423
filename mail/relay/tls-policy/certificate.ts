import { createPublicKey, hash, X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { TlsaRecord } from '../../dns/lookup.ts';
import type { TlsFailure } from '../../store/queue/tls-result.ts';

/** Reason why a server certificate is not accepted. */
export interface CertificateProblem {
  failure: TlsFailure;
  why: string;
}

const MAX_CHAIN = 10;

/** Returns the certificate chain of a server, its own first; empty for a resumed session. */
export function certificateChain(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let one = socket.getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate) {
    chain.push(one);
    if (chain.length >= MAX_CHAIN) break;
  }
  return chain;
}

/** Verifies a certificate by the trusted authorities and for this name. RFC 6125, RFC 8461 4.2. */
export function verifyByAuthorities(socket: TLSSocket, name: string): CertificateProblem | undefined {
  const [own] = certificateChain(socket);
  if (own === undefined) return { failure: 'validation-failure', why: 'the server presented no certificate' };
  if (!socket.authorized) return problemFromNode(String(socket.authorizationError), name);
  const named = own.checkHost(name, { subject: 'never', partialWildcards: false }) !== undefined;
  return named ? undefined : nameMismatch(name);
}

function problemFromNode(code: string, name: string): CertificateProblem {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return { failure: 'certificate-expired', why: 'its certificate has expired or is not valid yet' };
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return nameMismatch(name);
  const detail = code.replace(/[^A-Za-z0-9_ -]/g, '').slice(0, 60);
  return {
    failure: 'certificate-not-trusted',
    why: `its certificate is not from a trusted authority (${detail})`,
  };
}

function nameMismatch(name: string): CertificateProblem {
  return { failure: 'certificate-host-mismatch', why: `its certificate is not for the name ${name}` };
}

/**
 * Verifies a certificate by TLSA records. `names`: valid names for a certificate under a trust anchor (DANE-TA); DANE-EE checks
 * neither name nor expiry. RFC 7672 3.1, RFC 7671 5.
 */
export function verifyByTlsa(
  chain: readonly X509Certificate[],
  records: readonly TlsaRecord[],
  names: readonly string[],
  now: number,
): CertificateProblem | undefined {
  const [own] = chain;
  if (own === undefined) return { failure: 'validation-failure', why: 'the server presented no certificate' };
  if (records.some((record) => record.usage === DANE_EE && matches(record, own))) return undefined;
  const anchored = anchoredChain(
    chain,
    records.filter((record) => record.usage === DANE_TA),
  );
  if (anchored === undefined) {
    return { failure: 'validation-failure', why: 'its certificate matches none of its TLSA records' };
  }
  if (anchored.some((one) => now < one.validFromDate.getTime() || now > one.validToDate.getTime())) {
    return { failure: 'certificate-expired', why: 'its certificate has expired or is not valid yet' };
  }
  const named = names.some((name) => own.checkHost(name, { partialWildcards: false }) !== undefined);
  return named ? undefined : nameMismatch(names[0] ?? '');
}

const DANE_TA = 2;
const DANE_EE = 3;

/** Returns the usable TLSA records; PKIX usages are not usable for SMTP. RFC 7672 3.1.3, RFC 7671 5.1. */
export function usableRecords(records: readonly TlsaRecord[]): TlsaRecord[] {
  return records.filter(({ usage, selector, matchingType, data }) => {
    if ((usage !== DANE_TA && usage !== DANE_EE) || selector > 1) return false;
    const length = [undefined, 32, 64][matchingType];
    return matchingType === 0 ? data.length > 0 : length === data.length;
  });
}

function matches({ selector, matchingType, data }: TlsaRecord, certificate: X509Certificate): boolean {
  const octets = selector === 0 ? certificate.raw : publicKeyOf(certificate);
  if (matchingType === 0) return octets.equals(data);
  return hash(matchingType === 1 ? 'sha256' : 'sha512', octets, 'buffer').equals(data);
}

function publicKeyOf(certificate: X509Certificate): Buffer {
  return certificate.publicKey.export({ format: 'der', type: 'spki' });
}

/** Builds the path from the server certificate to a trust anchor, each issued by the next; undefined if there is none. */
function anchoredChain(
  chain: readonly X509Certificate[],
  anchors: readonly TlsaRecord[],
): X509Certificate[] | undefined {
  if (anchors.length === 0) return undefined;
  const others = [...chain.slice(1), ...anchors.flatMap((anchor) => wholeCertificate(anchor) ?? [])];
  const path: X509Certificate[] = [];
  for (let at = chain[0]; at !== undefined && path.length < MAX_CHAIN;) {
    path.push(at);
    const below = at;
    if (path.length > 1 && anchors.some((anchor) => matches(anchor, below))) return path;
    // An anchor that is only a key need not be in the presented chain. RFC 7671 5.2.2.
    if (anchors.some((anchor) => isSignedByKey(below, anchor))) return path;
    at = others.find((one) => !path.includes(one) && isIssuedBy(one, below));
  }
  return undefined;
}

function isIssuedBy(issuer: X509Certificate, subject: X509Certificate): boolean {
  return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
}

function wholeCertificate({ selector, matchingType, data }: TlsaRecord): X509Certificate | undefined {
  if (selector !== 0 || matchingType !== 0) return undefined;
  try {
    return new X509Certificate(data);
  } catch {
    return undefined;
  }
}

function isSignedByKey(certificate: X509Certificate, { selector, matchingType, data }: TlsaRecord): boolean {
  if (selector !== 1 || matchingType !== 0) return false;
  try {
    return certificate.verify(createPublicKey({ key: data, format: 'der', type: 'spki' }));
  } catch {
    return false;
  }
}
