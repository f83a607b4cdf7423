import { type Address, parseAddress } from '../message/address.ts';

/** Destination of reports. `maxOctets`: size limit that it states. */
export type ReportDestination = { maxOctets?: number } & (
  { kind: 'mail'; address: Address } | { kind: 'https'; url: URL }
);

/** URIs of one record that are used. RFC 9990 3.5: receivers limit them. */
const MAX_URIS = 5;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const MAX_URI_CHARS = 1000;

/** Parses the value of `rua=`. What is neither `mailto:` nor `https:` is skipped. Linear. RFC 9990 3.5, RFC 8460 3. */
export function parseReportUris(value: string): ReportDestination[] {
  const found: ReportDestination[] = [];
  for (const text of value.split(',')) {
    const one = destinationOf(text.trim());
    if (one !== undefined) found.push(one);
    if (found.length === MAX_URIS) break;
  }
  return found;
}

function destinationOf(text: string): ReportDestination | undefined {
  if (text.length > MAX_URI_CHARS) return undefined;
  // RFC 7489 6.2: "!" and a size; a "!" of the address is percent-encoded.
  const [, uri = '', size, unit = ''] = /^([^!]*)(?:!(\d{1,12})([kmgt]?))?$/i.exec(text) ?? [];
  const maxOctets = size === undefined ? undefined : Number(size) * (UNITS[unit.toLowerCase()] ?? 1);
  const limit = maxOctets !== undefined && { maxOctets };
  if (/^https:/i.test(uri)) {
    const url = URL.canParse(uri) ? new URL(uri) : undefined;
    return url === undefined || url.username !== '' ? undefined : { kind: 'https', url, ...limit };
  }
  const address = mailAddressOf(uri);
  return address && { kind: 'mail', address, ...limit };
}

/** Address of a `mailto:` URI; header fields after "?" are ignored. RFC 6068 2. */
function mailAddressOf(uri: string): Address | undefined {
  const [, encoded] = /^mailto:([^?]*)/i.exec(uri) ?? [];
  if (encoded === undefined) return undefined;
  try {
    const address = parseAddress(decodeURIComponent(encoded));
    return address?.domain.startsWith('[') === true ? undefined : address;
  } catch {
    return undefined;
  }
}
