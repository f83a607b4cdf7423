import ipaddr from 'ipaddr.js';

const PLAIN_IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** The network under which a client is counted: the IPv4 address, or the IPv6 /64, the least that a customer gets. */
export function networkOf(ip: string): string {
  if (PLAIN_IPV4.test(ip)) return ip;
  const groups = groupsOf(ip);
  return typeof groups === 'string' ? groups : `${toHex(groups, 4)}::/64`;
}

/** The neighborhood of an address, such as a hosting provider: an IPv4 /26, an IPv6 /48. */
export function neighborhoodOf(ip: string): string {
  const groups = PLAIN_IPV4.test(ip) ? ip : groupsOf(ip);
  if (typeof groups !== 'string') return `${toHex(groups, 3)}::/48`;
  const dot = groups.lastIndexOf('.');
  return dot < 0 ? groups : `${groups.slice(0, dot)}.${Number(groups.slice(dot + 1)) & 0xc0}/26`;
}

/** 127.0.0.0/8 and ::1, also written as an IPv4-mapped address. */
export function isLoopback(ip: string): boolean {
  return ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback';
}

/** The groups of an IPv6 address; the text of an IPv4 address or of an invalid one. */
function groupsOf(ip: string): readonly number[] | string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, 64);
  const address = ipaddr.process(ip); // ::ffff:192.0.2.1 is 192.0.2.1
  return address instanceof ipaddr.IPv6 ? address.parts : address.toString();
}

function toHex(groups: readonly number[], count: number): string {
  return groups
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(':');
}
