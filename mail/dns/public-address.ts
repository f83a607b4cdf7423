import ipaddr from 'ipaddr.js';

/** Parses an address and extracts an embedded IPv4 address: mapped, NAT64, 6to4. Undefined for an invalid one. */
function unwrapAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.parse(text);
  if (address.kind() === 'ipv4') return address;
  const bytes = address.toByteArray();
  const ipv4 = (at: number): ipaddr.IPv4 => new ipaddr.IPv4(bytes.slice(at, at + 4));
  const range: string = address.range();
  if (range === 'ipv4Mapped' || range === 'rfc6145') return ipv4(12);
  // RFC 8215: 64:ff9b:1::/48 is for local use, so it is never public.
  if (range === 'rfc6052') return bytes[5] === 0 ? ipv4(12) : address;
  return range === '6to4' ? ipv4(2) : address;
}

/**
 * True for an address of the public Internet. Loopback, private, link-local, metadata, documentation, multicast and
 * reserved ranges are not public, nor are IPv6 forms that embed one of them.
 */
export function isPublicAddress(text: string): boolean {
  const address = unwrapAddress(text);
  if (address === undefined) return false;
  // ::/96, the deprecated IPv4-compatible form, counts as unicast in the library and is routed by some kernels.
  if (
    address.kind() === 'ipv6' &&
    address
      .toByteArray()
      .slice(0, 12)
      .every((byte) => byte === 0)
  )
    return false;
  return address.range() === 'unicast';
}

/** The canonical form of an address, for comparison: `::FFFF:127.0.0.1` and `127.0.0.1` are equal. */
export function canonicalAddress(text: string): string {
  return unwrapAddress(text)?.toString() ?? text.toLowerCase();
}
