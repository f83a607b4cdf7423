import { isIPv6 } from 'node:net';
import type { Lookup, SecureResolver, TlsaRecord } from '../../dns/lookup.ts';
import type { Host } from '../destination.ts';

/** What the DNS says of how a host is to be known. */
export type DaneState =
  /** Nothing that is proved; other policies may count. */
  | { kind: 'none' }
  /** Proved records, under the name that they were found at, in whatever shape. */
  | { kind: 'records'; base: string; records: readonly TlsaRecord[] }
  /** Nobody can tell whether there are records: mail waits, or whoever breaks the DNS would have turned DANE off. */
  | { kind: 'trouble'; why: string };

/** The mail exchangers of a domain as DANE sees them. */
export interface DaneDestination {
  of(host: Host): Promise<DaneState>;
}

/**
 * Looks for TLSA records of the mail exchangers of a domain. Each step of the way has to be proved: which hosts they
 * are, where each is, and what is said of it. RFC 7672 2.2.
 */
export async function daneFor(resolver: SecureResolver, domain: string): Promise<DaneDestination> {
  const mx = await resolver.mx(domain);
  if (mx.kind === 'trouble') return always({ kind: 'trouble', why: mx.why });
  if (mx.secure !== true) return always({ kind: 'none' });
  // Without MX records the domain is its own host, and that there are none is proved.
  const names = mx.kind === 'found' ? mx.records.map((record) => record.exchange) : [domain];
  return {
    of: (host) => (names.includes(host.name) ? daneOf(resolver, host) : Promise.resolve({ kind: 'none' })),
  };
}

function always(state: DaneState): DaneDestination {
  return { of: () => Promise.resolve(state) };
}

/** The same of one host alone, whose name needs no proof: somebody configured it. RFC 7672 2.2.1. */
export async function daneOf(resolver: SecureResolver, host: Host): Promise<DaneState> {
  const bases = await basesOf(resolver, host);
  if ('kind' in bases) return bases;
  for (const base of bases) {
    const found = await resolver.tlsa(`_${host.port}._tcp.${base}`);
    if (found.kind === 'trouble') return found;
    if (found.kind === 'found' && found.secure === true) return { kind: 'records', base, records: found.records };
  }
  return { kind: 'none' };
}

/** The names that TLSA records may stand under: where an alias leads, then the alias itself. RFC 7672 2.2.2. */
async function basesOf(resolver: SecureResolver, host: Host): Promise<string[] | DaneState> {
  const address: Lookup<string> = await (isIPv6(host.ip) ? resolver.aaaa(host.name) : resolver.a(host.name));
  if (address.kind === 'trouble') return address;
  const { alias, secure } = address;
  if (secure === true) return alias === undefined ? [host.name] : [alias, host.name];
  if (alias === undefined) return [];
  // RFC 7672 2.2.2: an alias can be proved although what it leads to is not.
  const step = await resolver.cname(host.name);
  if (step.kind === 'trouble') return step;
  return step.kind === 'found' && step.secure === true ? [host.name] : [];
}
