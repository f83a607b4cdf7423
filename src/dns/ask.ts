import type { DecodedPacket } from 'dns-packet';
import { exchange, type Place } from '../../mail/dns/exchange.ts';

export type { Place };

/** Of one try, ms: whoever asks has asked others at the same time. */
const WAIT_MS = 1500;

/**
 * Asks one server for the name servers of a domain, without recursion. Undefined when no answer to just this question
 * came. Never rejects.
 */
export function askServer(at: Place, name: string, waitMs = WAIT_MS): Promise<DecodedPacket | undefined> {
  return exchange(at, { name, type: 'NS', recurse: false }, waitMs);
}
