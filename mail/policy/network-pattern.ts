import ipaddr from 'ipaddr.js';

/** Shorter prefixes would be whole parts of the Internet: nobody means them. */
const SHORTEST = { ipv4: 8, ipv6: 16 } as const;

/** The one spelling of an address or network such as `192.0.2.7` or `2001:db8::/32`, host bits gone; undefined for none. */
export function networkPattern(text: string): string | undefined {
  const slash = text.indexOf('/');
  const host = slash < 0 ? text : text.slice(0, slash);
  if (!ipaddr.IPv4.isValidFourPartDecimal(host) && !ipaddr.IPv6.isValid(host)) return undefined;
  const address = ipaddr.process(host);
  const whole = address.kind() === 'ipv4' ? 32 : 128;
  const length = slash < 0 ? String(whole) : text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined;
  const bits = Number(length);
  return bits < SHORTEST[address.kind()] || bits > whole ? undefined : networkOf(address, bits);
}

/** Every network that an address lies in, as {@link networkPattern} spells them; none for what is no address. */
export function networksOf(ip: string): string[] {
  if (!ipaddr.isValid(ip)) return [];
  const address = ipaddr.process(ip);
  const [shortest, whole] = [SHORTEST[address.kind()], address.kind() === 'ipv4' ? 32 : 128];
  return Array.from({ length: whole - shortest + 1 }, (_, i) => networkOf(address, shortest + i));
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const bytes = address.toByteArray().map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))));
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`;
}
