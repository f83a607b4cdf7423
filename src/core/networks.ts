import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Network, PrivateNetworks } from '../../config/parse.ts';

/** Returns true if an address is in one of the networks; IPv4-mapped IPv6 counts as IPv4. */
export function inNetworks(ip: string, networks: readonly Network[]): boolean {
  if (networks.length === 0 || isIP(ip) === 0) return false;
  const address = ipaddr.process(ip);
  return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
}

/** Returns true if MAILSTEAD_ALLOW_PRIVATE_NETWORKS permits connecting to a private address. */
export function mayReach(allowed: PrivateNetworks, ip: string, port: number): boolean {
  if (allowed.all || inNetworks(ip, allowed.networks)) return true;
  return allowed.endpoints.some((place) => place.host === ip && place.port === port);
}

const NOWHERE: PrivateNetworks = { all: false, networks: [], endpoints: [] };

/**
 * Private networks that a URL of a stranger may reach: of a message, of the DNS of another domain, of a program that asks for
 * access. None, unless all are allowed: a list names the services for URLs that people of this server enter.
 */
export function strangersNetworks(allowed: PrivateNetworks): PrivateNetworks {
  return allowed.all ? allowed : NOWHERE;
}
