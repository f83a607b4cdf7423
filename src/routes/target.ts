import { isIP } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { canonicalAddress, isPublicAddress } from '../../mail/dns/public-address.ts';
import { parseDomain } from '../../mail/message/address.ts';
import { mayReach } from '../networks.ts';

/** Ports on which mail is handed in. Others are for places that the operator allows. */
const PORTS = new Set([25, 465, 587, 2525]);
const SETTING = 'MAILSTEAD_ALLOW_PRIVATE_NETWORKS';

/**
 * Judges a smarthost that this box will call on somebody's behalf (SSRF). It is judged once more each time that it is
 * dialled, at the addresses that it has then.
 */
export async function judgeSmarthost(
  given: { host: string; port: number },
  allowed: PrivateNetworks,
  resolver: Resolver,
): Promise<{ host: string } | { problem: string }> {
  const { port } = given;
  const host = isIP(given.host) === 0 ? parseDomain(given.host) : given.host;
  if (host === undefined || host.startsWith('[')) return { problem: 'host is not a host name or an IP address' };
  if (allowed.places.some((place) => place.host === host && place.port === port)) return { host };
  const addresses = await addressesOf(host, resolver);
  if ('problem' in addresses) return allowed.all ? { host } : addresses;
  const inside = addresses.found.filter((ip) => !isPublicAddress(ip));
  if (inside.some((ip) => !mayReach(allowed, canonicalAddress(ip), port))) {
    return {
      problem: `${host} leads to an address that is not public; the operator allows such places with ${SETTING}`,
    };
  }
  if (inside.length < addresses.found.length && !PORTS.has(port)) {
    return { problem: `Port ${port} is not one that mail is handed in on: use 587, 465, 2525 or 25` };
  }
  return { host };
}

async function addressesOf(host: string, resolver: Resolver): Promise<{ found: string[] } | { problem: string }> {
  if (isIP(host) !== 0) return { found: [host] };
  // RFC 6761 6.3: never asked of the DNS.
  if (host === 'localhost' || host.endsWith('.localhost')) return { found: ['127.0.0.1', '::1'] };
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  const found = answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
  if (answers.some((answer) => answer.kind === 'trouble')) {
    return { problem: `${host} cannot be looked up now; try again later` };
  }
  return found.length === 0 ? { problem: `${host} does not exist in the DNS` } : { found };
}
