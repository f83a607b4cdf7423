import { createPrivateKey, X509Certificate } from 'node:crypto';
import { AuthorityUnavailable } from '../acme/acme-error.ts';

/** Facts of an issued certificate. */
export interface CertificateFacts {
  notBefore: number;
  notAfter: number;
  /** PEM of the chain, normalized. */
  chain: string;
}

const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+?-----END CERTIFICATE-----/g;
const MAX_CHAIN = 10;
const HOUR_MS = 3_600_000;

/** Checks that a chain is for our key and names and valid now: the authority may be wrong, or another one answers. */
export function checkChain(text: string, key: string, names: readonly string[], now: number): CertificateFacts {
  const all = text.match(PEM) ?? [];
  if (all.length === 0 || all.length > MAX_CHAIN) throw new AuthorityUnavailable('it sent no usable chain');
  // Parses all of them: TLS refuses the whole chain for one that is damaged, after a restart all listeners too.
  const [leaf, ...issuers] = all.map(parsed);
  if (leaf === undefined) throw new AuthorityUnavailable('it sent no usable chain');
  checkSubject(leaf, key, names);
  checkIssuer(leaf, issuers);
  return { ...validity(leaf, now), chain: `${all.join('\n')}\n` };
}

function checkSubject(leaf: X509Certificate, key: string, names: readonly string[]): void {
  if (!leaf.checkPrivateKey(createPrivateKey(key))) {
    throw new AuthorityUnavailable('it sent a certificate for another key');
  }
  const missing = names.find((name) => leaf.checkHost(name) === undefined);
  if (missing !== undefined) throw new AuthorityUnavailable(`it sent a certificate without ${missing}`);
}

/** RFC 8555 7.4.2: the certificates after the first certify it. Their order is only recommended. */
function checkIssuer(leaf: X509Certificate, issuers: readonly X509Certificate[]): void {
  if (issuers.length === 0) return;
  if (!issuers.some((one) => leaf.checkIssued(one) && leaf.verify(one.publicKey))) {
    throw new AuthorityUnavailable('it sent a chain of other certificates, none of which issued ours');
  }
}

function validity(leaf: X509Certificate, now: number): { notBefore: number; notAfter: number } {
  const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  if (!(notAfter > now)) {
    throw new AuthorityUnavailable(
      `it sent a certificate that expired at ${leaf.validTo}: check the clock of this machine`,
    );
  }
  if (!(notBefore <= now + HOUR_MS)) {
    throw new AuthorityUnavailable(
      `it sent a certificate that is valid only from ${leaf.validFrom}: check the clock of this machine`,
    );
  }
  return { notBefore, notAfter };
}

function parsed(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new AuthorityUnavailable('it sent a damaged certificate', { cause });
  }
}
