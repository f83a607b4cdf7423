import type { DecodedPacket } from 'dns-packet';
import { queryServer, type NameServer } from '../../mail/dns/exchange.ts';

export type { NameServer };

/** Timeout of one query, ms: several servers are queried at once. */
const TIMEOUT_MS = 1500;

/** Queries one server for the NS records of a domain, without recursion. Undefined without a matching response. Never rejects. */
export function queryNameServers(
  at: NameServer,
  name: string,
  waitMs = TIMEOUT_MS,
): Promise<DecodedPacket | undefined> {
  return queryServer(at, { name, type: 'NS', recurse: false }, waitMs);
}
