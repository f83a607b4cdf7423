import ipaddr from 'ipaddr.js';
import type { Lookup } from '../../dns/lookup.ts';

/** A list that is asked by DNS. */
export interface DnsList {
  /** Its zone, such as `bl.example.org`. */
  zone: string;
  /** What being listed counts for; below 0 for a list of the good. */
  score: number;
  /** Being listed is enough to refuse a message. */
  refuse: boolean;
}

/** `refused`: the list did not answer the question, whatever the address that it gave says. */
export type Listing = { kind: 'listed'; codes: readonly string[] } | { kind: 'clear' | 'refused' | 'trouble' };

/** The labels under which an address is asked for: octets or nibbles, the last one first. RFC 5782 2.1, 2.4. */
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
 * What an answer means. Only 127.0.0.0/8 lists anything (RFC 5782 2.1); of that 127.255.255.0/24 and addresses that end in
 * .255 say that this resolver, or so many questions, are not served, and 127.0.0.1 is what broken name servers give. An
 * address from elsewhere is a page that sells domains: the zone is not a list any more.
 */
export function listingOf(answer: Lookup<string>): Listing {
  if (answer.kind === 'trouble') return { kind: 'trouble' };
  if (answer.kind === 'none') return { kind: 'clear' };
  const codes = answer.records;
  const refused = codes.some(
    (code) =>
      !/^127\.\d+\.\d+\.\d+$/.test(code) || code.startsWith('127.255.255.') || /\.255$|^127\.0\.0\.1$/.test(code),
  );
  return refused ? { kind: 'refused' } : { kind: 'listed', codes };
}
