import type { DecodedPacket } from 'dns-packet';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { within } from './check.ts';
import { referredTo, together } from './referral.ts';

/**
 * The name servers of a domain as the zone above has them; undefined when it could not be learned. A resolver does not
 * tell that: it wants to hear them from the domain's own servers, and those say nothing before they serve the domain.
 */
export type AskParents = (domain: string) => Promise<string[] | undefined>;

export interface ParentsContext {
  /** Remembers nothing. */
  resolver: Resolver;
  /** Whether this box may send to an address. */
  mayAsk: (ip: string) => boolean;
  /** Puts the question for the name servers of a domain to one server, without recursion; undefined: no answer. */
  ask: (ip: string, domain: string) => Promise<DecodedPacket | undefined>;
}

const MOST_SERVERS = 3;
/** Addresses are looked up of so many, as some have none that can be reached. */
const MOST_NAMES = 6;
/** Of the look-ups that come before the question itself, ms. */
const LONGEST_MS = 10_000;
/** Zones above that are looked for, label by label. */
const MOST_LABELS = 8;

/** Asks the servers of the zone above directly. Never rejects. */
export function parentsOf({ resolver: given, mayAsk, ask }: ParentsContext): AskParents {
  return async (domain) => {
    const resolver = within(given, LONGEST_MS);
    const servers = await serversAbove(resolver, domain);
    const found = await Promise.all(servers.slice(0, MOST_NAMES).map((one) => firstAddress(resolver, one)));
    const may = [...new Set(found.filter((ip) => ip !== undefined))].filter(mayAsk).slice(0, MOST_SERVERS);
    const said = await Promise.all(may.map((ip) => ask(ip, domain)));
    return together(said.map((one) => (one === undefined ? undefined : referredTo(one, domain))));
  };
}

/** Of the nearest zone above; none when that was not found for sure. */
async function serversAbove(resolver: Resolver, domain: string): Promise<readonly string[]> {
  const labels = domain.split('.');
  for (let at = 1; at < labels.length && at <= MOST_LABELS; at++) {
    const found = await resolver.ns(labels.slice(at).join('.'));
    // A zone may begin here: a server from further above would only tell of that one.
    if (found.kind === 'trouble') return [];
    if (found.kind === 'found') return found.records;
  }
  return [];
}

async function firstAddress(resolver: Resolver, host: string): Promise<string | undefined> {
  return first(await resolver.a(host)) ?? first(await resolver.aaaa(host));
}

const first = (found: Lookup<string>): string | undefined => (found.kind === 'found' ? found.records[0] : undefined);
