import { isDnsName } from '../dns/name.ts';
import type { Resolver } from '../dns/lookup.ts';
import type { Authentication } from './authentication.ts';
import { ipOctets } from './ip-match.ts';

/** PTR names of one address that are resolved. RFC 7208 4.6.4. */
const MAX_PTR_NAMES = 10;

export type ReverseLookup =
  | { kind: 'names'; validated: string[]; /** A lookup failed. */ unsure: boolean }
  | { kind: 'none' }
  | { kind: 'trouble' };

/** Finds the forward-confirmed reverse DNS names of an address, in lower case. RFC 7208 5.5, RFC 8601 2.7.3. */
export async function reverseNames(ip: string, resolver: Resolver): Promise<ReverseLookup> {
  const octets = ipOctets(ip);
  const found = octets === undefined ? undefined : await resolver.ptr(ip);
  if (octets === undefined || found === undefined || found.kind === 'none') return { kind: 'none' };
  if (found.kind === 'trouble') return { kind: 'trouble' };
  const names = [...new Set(found.records)].filter(isDnsName).slice(0, MAX_PTR_NAMES);
  const back = await Promise.all(names.map((name) => resolvesTo(name, octets, resolver)));
  const validated = names.filter((_, at) => back[at] === true);
  return { kind: 'names', validated, unsure: back.includes(undefined) };
}

/** Returns undefined if the lookup failed. */
async function resolvesTo(name: string, octets: readonly number[], resolver: Resolver): Promise<boolean | undefined> {
  const found = await (octets.length === 4 ? resolver.a(name) : resolver.aaaa(name));
  if (found.kind === 'trouble') return undefined;
  const wanted = octets.join('.');
  return found.kind === 'found' && found.records.some((address) => ipOctets(address)?.join('.') === wanted);
}

/** Converts to the `iprev` result of RFC 8601 2.7.3. */
export function iprevOf(ip: string, reverse: ReverseLookup): Authentication['iprev'] {
  if (reverse.kind === 'none') return { result: 'permerror', name: '', ip };
  if (reverse.kind === 'trouble') return { result: 'temperror', name: '', ip };
  const [name] = reverse.validated;
  if (name !== undefined) return { result: 'pass', name, ip };
  return { result: reverse.unsure ? 'temperror' : 'fail', name: '', ip };
}
