import { X509Certificate } from 'node:crypto';
import { usableRecords, verifyByTlsa } from '../../mail/relay/tls-policy/certificate.ts';
import { type HostDane, tlsaName } from '../certificates/dane.ts';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

const NAME = 'DANE';
const PUBLISH =
  'Publish the TLSA records of "mailstead certificate list" there; a connected DNS provider gets them by itself.';

const RETRY = 'Run the doctor again in some minutes. If it stays unknown, check the resolver (MAILSTEAD_RESOLVERS).';

interface PresentedCertificate {
  hostname: string;
  /** Certificate in use, and its chain. */
  pem: string;
  now: number;
}

/** Checks that senders with DANE accept the certificate in use. RFC 7672. */
export function checkDane(found: HostDane, presented: PresentedCertificate): HealthCheck {
  const { hostname } = presented;
  switch (found.kind) {
    case 'untrusted': {
      const why = `It is unknown if the zone of ${hostname} is signed (DNSSEC): no resolver on this machine validates.`;
      return healthy(NAME, `${why} TLSA records are not written at a DNS provider.`);
    }
    case 'unsigned': {
      const why = `The zone of ${hostname} is not signed (DNSSEC), so that senders cannot use DANE.`;
      return healthy(NAME, `${why} Sign it at its provider to have it; MTA-STS does not need it.`);
    }
    case 'trouble':
      return unhealthy(NAME, 'unknown', `The TLSA records of ${hostname} cannot be looked up now.`, RETRY);
    case 'signed':
      return signedCheck(found, presented);
  }
}

function signedCheck(
  { tlsa }: Extract<HostDane, { kind: 'signed' }>,
  { hostname, pem, now }: PresentedCertificate,
): HealthCheck {
  const name = tlsaName(hostname);
  const records = tlsa.kind === 'found' ? usableRecords(tlsa.records) : [];
  if (tlsa.kind !== 'found' || records.length === 0) {
    const why = `The zone of ${hostname} is signed, but there are no TLSA records at ${name}: senders cannot use DANE.`;
    return unhealthy(NAME, 'off', why, PUBLISH);
  }
  if (tlsa.secure !== true) {
    const why = `The TLSA records at ${name} are in a zone that is not signed, so that senders ignore them.`;
    const fix = `Publish the DS record of dkim.${hostname} (line "dkim.${hostname}: dnssec") where the alias leads there, else the records themselves.`;
    return unhealthy(NAME, 'off', why, fix);
  }
  if (verifyByTlsa(chainOf(pem), records, [hostname], now) === undefined)
    return healthy(NAME, `The TLSA records at ${name} match the certificate in use.`);
  const why = `No TLSA record at ${name} matches the certificate in use: senders with DANE do not deliver.`;
  return unhealthy(NAME, 'failed', why, `${PUBLISH} Or remove all TLSA records.`);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const chainOf = (pem: string): X509Certificate[] =>
  (pem.match(CERTIFICATE) ?? []).map((one) => new X509Certificate(one));
