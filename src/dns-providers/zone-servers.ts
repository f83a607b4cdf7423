import { queryServer } from '../../mail/dns/exchange.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';

export interface ZoneServersContext {
  /** Without a cache. */
  resolver: Resolver;
  /** Tests if an address may be queried. */
  mayQuery: (ip: string) => boolean;
  /** Port of the name servers. */
  port: number;
}

const MAX_SERVERS = 8;
/** Timeout of one query, ms. */
const TIMEOUT_MS = 2_000;

/**
 * Reads the TXT records of a name at every name server of its zone; undefined if one of them does not answer. An authority may
 * ask any of them, so that one without a new record is enough to fail.
 */
export async function textsAtServers(
  { resolver, mayQuery, port }: ZoneServersContext,
  zone: string,
  name: string,
): Promise<string[][] | undefined> {
  const servers = await resolver.ns(zone);
  if (servers.kind !== 'found') return undefined;
  const found = await Promise.all(servers.records.slice(0, MAX_SERVERS).map((host) => resolver.a(host)));
  const addresses = found.map((one) => (one.kind === 'found' ? one.records.find(mayQuery) : undefined));
  const known = addresses.filter((ip) => ip !== undefined);
  if (known.length === 0) return undefined;
  const answers = await Promise.all(known.map((ip) => textsAt({ ip, port }, name)));
  return answers.every((one) => one !== undefined) ? answers : undefined;
}

async function textsAt(server: { ip: string; port: number }, name: string): Promise<string[] | undefined> {
  const response = await queryServer(server, { name, type: 'TXT', recurse: false }, TIMEOUT_MS);
  return response?.answers?.flatMap((answer) => {
    if (answer.type !== 'TXT') return [];
    const strings = Array.isArray(answer.data) ? answer.data : [answer.data];
    return [Buffer.concat(strings.map((one) => Buffer.from(one))).toString('utf8')];
  });
}
