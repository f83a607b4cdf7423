import ipaddr from 'ipaddr.js';
import { isPublicAddress } from '../dns/public-address.ts';

/** Returns the network of an address, usually one customer: /24 for IPv4, /48 for IPv6; '' for a private address. */
export function senderNetwork(ip: string): string {
  if (!isPublicAddress(ip)) return '';
  const address = ipaddr.process(ip);
  const octets = address.toByteArray();
  if (address.kind() === 'ipv4') return `${octets.slice(0, 3).join('.')}.0/24`;
  const groups = [0, 2, 4].map((at) => (((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0)).toString(16));
  return `${groups.join(':')}::/48`;
}
