import type { Lookup, SecureResolver, TlsaRecord } from '../../mail/dns/lookup.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { publishedTlsKeys } from './queries.ts';

/**
 * DANE of the host as its senders see it. `untrusted`: the resolvers of this server do not validate, or not on this machine;
 * `unsigned`: the zone of the host is not signed, so that senders ignore TLSA records (RFC 7672 2.2).
 */
export type HostDane =
  { kind: 'untrusted' } | { kind: 'trouble' } | { kind: 'unsigned' } | { kind: 'signed'; tlsa: Lookup<TlsaRecord> };

/** Name of the TLSA records of the MX listener. RFC 7672 3.1. */
export const tlsaName = (hostname: string): string => `_25._tcp.${hostname}`;

/** Looks up if the zone of the host is signed, and its TLSA records. `secure`: undefined if no resolver is trusted. */
export async function daneState(secure: SecureResolver | undefined, hostname: string): Promise<HostDane> {
  if (secure === undefined) return { kind: 'untrusted' };
  const host = await secure.a(hostname);
  if (host.kind === 'trouble') return { kind: 'trouble' };
  if (host.secure !== true) return { kind: 'unsigned' };
  const tlsa = await secure.tlsa(tlsaName(hostname));
  return tlsa.kind === 'trouble' ? { kind: 'trouble' } : { kind: 'signed', tlsa };
}

interface TlsaContext {
  store: Store;
  secure: SecureResolver | undefined;
  settings: { hostname: string; tls: object | undefined };
}

/**
 * TLSA records to publish at a DNS provider: those of the keys, where the zone is signed and a key of the authority's
 * certificate is in use. Before the first certificate, or with the operator's own files, they would stop mail.
 */
export async function tlsaToPublish({
  store,
  secure,
  settings: { hostname, tls },
}: TlsaContext): Promise<{ kind: 'records'; values: string[] } | { kind: 'unknown' }> {
  if (tls !== undefined) return { kind: 'records', values: [] };
  const keys = await store.read(publishedTlsKeys, { name: hostname });
  if (!keys.some(({ state }) => state === 'used')) return { kind: 'records', values: [] };
  const host = await secure?.a(hostname);
  if (host === undefined || host.kind === 'trouble') return { kind: 'unknown' };
  return { kind: 'records', values: host.secure === true ? keys.map(({ spki }) => `3 1 1 ${spki}`) : [] };
}
