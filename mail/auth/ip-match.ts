import ipaddr from 'ipaddr.js';

/** An address as octets; IPv4 in IPv6 is IPv4. Undefined for what is none. */
export function ipOctets(text: string): number[] | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  return ipaddr.process(text).toByteArray();
}

/** A network as octets; what is written as IPv6 stays IPv6. */
export function networkOctets(text: string): number[] | undefined {
  return ipaddr.isValid(text) ? ipaddr.parse(text).toByteArray() : undefined;
}

/** Whether the first `bits` of two addresses of one family are the same. */
export function sharesPrefix(ip: readonly number[], other: readonly number[] | undefined, bits: number): boolean {
  if (ip.length !== other?.length) return false;
  const whole = bits >> 3;
  for (let at = 0; at < whole; at += 1) if (ip[at] !== other[at]) return false;
  const mask = (0xff00 >> (bits & 7)) & 0xff;
  return ((ip[whole] ?? 0) & mask) === ((other[whole] ?? 0) & mask);
}

/** The name of an address in the reverse tree, without its zone: dotted octets, or nibbles, in the order as written. */
export function dotted(ip: readonly number[]): string {
  if (ip.length === 4) return ip.join('.');
  return ip.flatMap((octet) => [(octet >> 4).toString(16), (octet & 15).toString(16)]).join('.');
}
