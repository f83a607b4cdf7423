import { isIPv6 } from 'node:net';
import type { Lookup, SecureResolver, TlsaRecord } from '../../dns/lookup.ts';
import type { Host } from '../destination.ts';

/** DANE state of a host. */
export type DaneState =
  /** No DNSSEC-validated records; other policies may apply. */
  | { kind: 'none' }
  /** DNSSEC-validated records and their base domain; they may be unusable. */
  | { kind: 'records'; base: string; records: readonly TlsaRecord[] }
  /** The lookup failed: mail is deferred, or an attacker could disable DANE by blocking DNS. */
  | { kind: 'trouble'; why: string };

/** DANE states of the mail exchangers of a domain. */
export interface DaneDestination {
  forHost(host: Host): Promise<DaneState>;
}

/**
 * Finds TLSA records of the mail exchangers of a domain. Each step must be DNSSEC-validated: MX, addresses and TLSA.
 * RFC 7672 2.2.
 */
export async function findDaneDestination(resolver: SecureResolver, domain: string): Promise<DaneDestination> {
  const mx = await resolver.mx(domain);
  if (mx.kind === 'trouble') return constantState({ kind: 'trouble', why: mx.why });
  if (mx.secure !== true) return constantState({ kind: 'none' });
  // Implicit MX: the absence of MX records is validated too.
  const names = mx.kind === 'found' ? mx.records.map((record) => record.exchange) : [domain];
  return {
    forHost: (host) => (names.includes(host.name) ? findHostTlsa(resolver, host) : Promise.resolve({ kind: 'none' })),
  };
}

function constantState(state: DaneState): DaneDestination {
  return { forHost: () => Promise.resolve(state) };
}

/** Finds the TLSA records of one configured host, whose name needs no validation. RFC 7672 2.2.1. */
export async function findHostTlsa(resolver: SecureResolver, host: Host): Promise<DaneState> {
  const bases = await tlsaBaseDomains(resolver, host);
  if ('kind' in bases) return bases;
  for (const base of bases) {
    const found = await resolver.tlsa(`_${host.port}._tcp.${base}`);
    if (found.kind === 'trouble') return found;
    if (found.kind === 'found' && found.secure === true) return { kind: 'records', base, records: found.records };
  }
  return { kind: 'none' };
}

/** Lists the TLSA base domains: the target of a CNAME, then the name itself. RFC 7672 2.2.2. */
async function tlsaBaseDomains(resolver: SecureResolver, host: Host): Promise<string[] | DaneState> {
  const address: Lookup<string> = await (isIPv6(host.ip) ? resolver.aaaa(host.name) : resolver.a(host.name));
  if (address.kind === 'trouble') return address;
  const { alias, secure } = address;
  if (secure === true) return alias === undefined ? [host.name] : [alias, host.name];
  if (alias === undefined) return [];
  // A CNAME can be validated although its target is not. RFC 7672 2.2.2.
  const step = await resolver.cname(host.name);
  if (step.kind === 'trouble') return step;
  return step.kind === 'found' && step.secure === true ? [host.name] : [];
}
