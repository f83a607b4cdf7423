import { createPublicKey, hash, X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { TlsaRecord } from '../../dns/lookup.ts';
import type { TlsFailure } from '../../store/tls-result.ts';

/** Why a server's certificate is not accepted. */
export interface Distrust {
  failure: TlsFailure;
  why: string;
}

const LONGEST_CHAIN = 10;

/** What a server showed, its own certificate first. Nothing for a session that was resumed. */
export function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let one = socket.getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate) {
    chain.push(one);
    if (chain.length >= LONGEST_CHAIN) break;
  }
  return chain;
}

/** Whether an authority that this machine knows vouches for the server under this name. RFC 6125, RFC 8461 4.2. */
export function judgeByAuthorities(socket: TLSSocket, name: string): Distrust | undefined {
  const [own] = chainOf(socket);
  if (own === undefined) return { failure: 'validation-failure', why: 'the server showed no certificate' };
  if (!socket.authorized) return fromNode(String(socket.authorizationError), name);
  const named = own.checkHost(name, { subject: 'never', partialWildcards: false }) !== undefined;
  return named ? undefined : mismatch(name);
}

function fromNode(code: string, name: string): Distrust {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return { failure: 'certificate-expired', why: 'its certificate has expired or is not valid yet' };
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return mismatch(name);
  const said = code.replace(/[^A-Za-z0-9_ -]/g, '').slice(0, 60);
  return {
    failure: 'certificate-not-trusted',
    why: `its certificate is from no authority that is known here (${said})`,
  };
}

function mismatch(name: string): Distrust {
  return { failure: 'certificate-host-mismatch', why: `its certificate is not for the name ${name}` };
}

/**
 * Whether a server is the one that its TLSA records name. `names` are those that a certificate under a trust anchor may
 * be for; one that is named itself is not asked for its name, nor for its age. RFC 7672 3.1, RFC 7671 5.
 */
export function judgeByTlsa(
  chain: readonly X509Certificate[],
  records: readonly TlsaRecord[],
  names: readonly string[],
  now: number,
): Distrust | undefined {
  const [own] = chain;
  if (own === undefined) return { failure: 'validation-failure', why: 'the server showed no certificate' };
  if (records.some((record) => record.usage === DANE_EE && matches(record, own))) return undefined;
  const anchored = anchoredChain(
    chain,
    records.filter((record) => record.usage === DANE_TA),
  );
  if (anchored === undefined) {
    return { failure: 'validation-failure', why: 'its certificate is none that its TLSA records name' };
  }
  if (anchored.some((one) => now < one.validFromDate.getTime() || now > one.validToDate.getTime())) {
    return { failure: 'certificate-expired', why: 'its certificate has expired or is not valid yet' };
  }
  const named = names.some((name) => own.checkHost(name, { partialWildcards: false }) !== undefined);
  return named ? undefined : mismatch(names[0] ?? '');
}

const DANE_TA = 2;
const DANE_EE = 3;

/** What of a TLSA RRset can be used; the usages that name public authorities cannot. RFC 7672 3.1.3, RFC 7671 5.1. */
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

/** The certificates from the server's own up to the one that an anchor names, each issued by the next; or undefined. */
function anchoredChain(
  chain: readonly X509Certificate[],
  anchors: readonly TlsaRecord[],
): X509Certificate[] | undefined {
  if (anchors.length === 0) return undefined;
  const others = [...chain.slice(1), ...anchors.flatMap((anchor) => wholeCertificate(anchor) ?? [])];
  const path: X509Certificate[] = [];
  for (let at = chain[0]; at !== undefined && path.length < LONGEST_CHAIN;) {
    path.push(at);
    const below = at;
    if (path.length > 1 && anchors.some((anchor) => matches(anchor, below))) return path;
    // RFC 7671 5.2.2: an anchor that is only a key need not be among what the server sends.
    if (anchors.some((anchor) => signedByKey(below, anchor))) return path;
    at = others.find((one) => !path.includes(one) && issued(one, below));
  }
  return undefined;
}

function issued(issuer: X509Certificate, subject: X509Certificate): boolean {
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

function signedByKey(certificate: X509Certificate, { selector, matchingType, data }: TlsaRecord): boolean {
  if (selector !== 1 || matchingType !== 0) return false;
  try {
    return certificate.verify(createPublicKey({ key: data, format: 'der', type: 'spki' }));
  } catch {
    return false;
  }
}
