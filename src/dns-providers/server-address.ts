import { isIP } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import { canonicalAddress, isPublicAddress } from '../../mail/dns/public-address.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { parseDomain } from '../../mail/message/address.ts';
import { mayReach } from '../core/networks.ts';

import { DnsProviderError } from './provider-error.ts';

const SETTING = 'MAILSTEAD_ALLOW_PRIVATE_NETWORKS';
const DNS_PORT = 53;

/** Finds the address of a name server that a person named; refuses private ones that the operator did not allow. */
export async function serverAddress(
  given: { host: string; port: number },
  allowed: PrivateNetworks,
  resolver: Resolver,
): Promise<string> {
  const { port } = given;
  const host = isIP(given.host) === 0 ? parseDomain(given.host) : given.host;
  if (host === undefined || host.startsWith('['))
    throw rejected('The name server must be a host name or an IP address.');
  const found = await addressesOf(host, resolver);
  const [first] = found;
  if (first === undefined) throw rejected(`${host} has no address in the DNS.`);
  const isAllowed = (ip: string): boolean => {
    if (!isPublicAddress(ip)) return mayReach(allowed, canonicalAddress(ip), port);
    // A port of another service might take the octets for commands.
    return port === DNS_PORT || port > 1023;
  };
  const usable = found.find(isAllowed);
  if (usable !== undefined) return usable;
  if (isPublicAddress(first)) throw rejected(`Port ${port} is not allowed. Use 53 or a port above 1023.`);
  throw rejected(`${host} is at a private address. The operator can allow it with ${SETTING}.`);
}

async function addressesOf(host: string, resolver: Resolver): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const found = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  return found.flatMap((one) => (one.kind === 'found' ? one.records : []));
}

const rejected = (message: string): DnsProviderError => new DnsProviderError('rejected', message);
