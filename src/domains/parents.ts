import type { DecodedPacket } from 'dns-packet';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { within } from './check.ts';
import { nameServersIn, mergeReferrals } from './referral.ts';

/**
 * Queries the parent zone for the name servers of a domain; undefined if it does not answer. A resolver cannot be used: it
 * queries the domain's own servers, which do not answer before they serve the domain.
 */
export type QueryParents = (domain: string) => Promise<string[] | undefined>;

export interface ParentsContext {
  /** No cache. */
  resolver: Resolver;
  /** Tests if this box may send to an address. */
  mayQuery: (ip: string) => boolean;
  /** Queries one server for NS records without recursion; undefined: no response. */
  query: (ip: string, domain: string) => Promise<DecodedPacket | undefined>;
}

const MAX_SERVERS = 3;
/** Resolves at most this many hosts; some have no reachable address. */
const MAX_NAMES = 6;
/** Time limit for the lookups before the query itself, ms. */
const MAX_LOOKUP_MS = 10_000;
/** Parent zones tried, label by label. */
const MAX_LABELS = 8;

/** Queries the servers of the parent zone directly. Never rejects. */
export function parentsOf({ resolver: given, mayQuery: mayAsk, query: ask }: ParentsContext): QueryParents {
  return async (domain) => {
    const resolver = within(given, MAX_LOOKUP_MS);
    const servers = await serversAbove(resolver, domain);
    const found = await Promise.all(servers.slice(0, MAX_NAMES).map((one) => firstAddress(resolver, one)));
    const may = [...new Set(found.filter((ip) => ip !== undefined))].filter(mayAsk).slice(0, MAX_SERVERS);
    const responses = await Promise.all(may.map((ip) => ask(ip, domain)));
    return mergeReferrals(responses.map((one) => (one === undefined ? undefined : nameServersIn(one, domain))));
  };
}

/** Servers of the nearest parent zone; none if that is uncertain. */
async function serversAbove(resolver: Resolver, domain: string): Promise<readonly string[]> {
  const labels = domain.split('.');
  for (let at = 1; at < labels.length && at <= MAX_LABELS; at++) {
    const found = await resolver.ns(labels.slice(at).join('.'));
    // A zone may begin here: a server from further above would return the wrong referral.
    if (found.kind === 'trouble') return [];
    if (found.kind === 'found') return found.records;
  }
  return [];
}

async function firstAddress(resolver: Resolver, host: string): Promise<string | undefined> {
  return first(await resolver.a(host)) ?? first(await resolver.aaaa(host));
}

const first = (found: Lookup<string>): string | undefined => (found.kind === 'found' ? found.records[0] : undefined);
