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
  const [first] = all;
  if (first === undefined || all.length > MAX_CHAIN) throw new AuthorityUnavailable('it sent no usable chain');
  const leaf = parsed(first);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) {
    throw new AuthorityUnavailable('it sent a certificate for another key');
  }
  const missing = names.find((name) => leaf.checkHost(name) === undefined);
  if (missing !== undefined) throw new AuthorityUnavailable(`it sent a certificate without ${missing}`);
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
  return { notBefore, notAfter, chain: `${all.join('\n')}\n` };
}

function parsed(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new AuthorityUnavailable('it sent a damaged certificate', { cause });
  }
}
