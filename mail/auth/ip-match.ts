import ipaddr from 'ipaddr.js';

/** Parses an address into octets; IPv4-mapped IPv6 becomes IPv4. Undefined if invalid. */
export function ipOctets(text: string): number[] | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  return ipaddr.process(text).toByteArray();
}

/** Parses a network into octets; IPv4-mapped IPv6 stays IPv6. */
export function networkOctets(text: string): number[] | undefined {
  return ipaddr.isValid(text) ? ipaddr.parse(text).toByteArray() : undefined;
}

/** Compares the first `bits` of two addresses of one family. */
export function sharesPrefix(ip: readonly number[], other: readonly number[] | undefined, bits: number): boolean {
  if (ip.length !== other?.length) return false;
  const whole = bits >> 3;
  for (let at = 0; at < whole; at += 1) if (ip[at] !== other[at]) return false;
  const mask = (0xff00 >> (bits & 7)) & 0xff;
  return ((ip[whole] ?? 0) & mask) === ((other[whole] ?? 0) & mask);
}

/** Formats an address as dotted octets, or dotted nibbles for IPv6 (SPF macro `i`). */
export function dotted(ip: readonly number[]): string {
  if (ip.length === 4) return ip.join('.');
  return ip.flatMap((octet) => [(octet >> 4).toString(16), (octet & 15).toString(16)]).join('.');
}
