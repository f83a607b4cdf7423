import ipaddr from 'ipaddr.js';
import type { Lookup } from '../../dns/lookup.ts';

/** A DNS list. */
export interface DnsList {
  /** Its zone, such as `bl.example.org`. */
  zone: string;
  /** Score of a listing; negative for an allow list. */
  score: number;
  /** Rejects listed mail. */
  refuse: boolean;
}

/** Result of a lookup. `refused`: the list refuses queries from this resolver. */
export type Listing = { kind: 'listed'; codes: readonly string[] } | { kind: 'clear' | 'refused' | 'trouble' };

/** Returns the query labels of an address: reversed octets or nibbles. RFC 5782 2.1, 2.4. */
export function addressLabels(ip: string): string | undefined {
  if (!ipaddr.isValid(ip)) return undefined;
  const address = ipaddr.process(ip);
  const octets = address.toByteArray();
  if (address.kind() === 'ipv4') return octets.toReversed().join('.');
  return octets
    .flatMap((octet) => [octet >> 4, octet & 15])
    .toReversed()
    .map((nibble) => nibble.toString(16))
    .join('.');
}

/**
 * Interprets the answer of a list. Only 127.0.0.0/8 is a listing (RFC 5782 2.1). Of these, 127.255.255.0/24 and addresses
 * that end in .255 mean that the resolver is refused or over its quota, and 127.0.0.1 comes from broken name servers. Any
 * other address is a domain parking page: the zone is not a list any more.
 */
export function interpretListing(answer: Lookup<string>): Listing {
  if (answer.kind === 'trouble') return { kind: 'trouble' };
  if (answer.kind === 'none') return { kind: 'clear' };
  const codes = answer.records;
  const refused = codes.some(
    (code) =>
      !/^127\.\d+\.\d+\.\d+$/.test(code) || code.startsWith('127.255.255.') || /\.255$|^127\.0\.0\.1$/.test(code),
  );
  return refused ? { kind: 'refused' } : { kind: 'listed', codes };
}
