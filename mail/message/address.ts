import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * A strictly parsed mail address, on which every authorization decision is based. The same object is checked, stored and
 * written to the wire; nothing parses it a second time.
 */
export interface Address {
  /** Local part without quotes and backslashes, case kept. RFC 5321 2.3.11. */
  readonly local: string;
  /** Domain in lower-case A-labels without a trailing dot, or an address literal such as `[192.0.2.1]`. */
  readonly domain: string;
}

// Beyond ASCII: excludes C1 controls, line and paragraph separators, and lone surrogates, which have no UTF-8 form.
const ATEXT =
  /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10FFFF}]+(?:\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10FFFF}]+)*$/u;
const QUOTED = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\u{10FFFF}]|\\[\x20-\x7e])*"$/u;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const LITERAL = /^\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9a-f:.]{2,45})\]$/i;

/**
 * Parses `local@domain` by RFC 5321 4.1.2 (with RFC 6531 UTF-8 local parts and U-labels); undefined if invalid. Source
 * routes, comments, folding and encoded-words are rejected.
 */
export function parseAddress(text: string): Address | undefined {
  // RFC 5321 4.5.3.1: 64 octets of local part, 255 of domain, 254 of path.
  if (text.length > 320) return undefined;
  const at = text.startsWith('"') ? text.indexOf('"@', 1) + 1 : text.indexOf('@');
  if (at <= 0) return undefined;
  const local = parseLocal(text.slice(0, at));
  const domain = parseDomain(text.slice(at + 1));
  return local === undefined || domain === undefined ? undefined : { local, domain };
}

function parseLocal(text: string): string | undefined {
  if (Buffer.byteLength(text) > 64) return undefined;
  if (ATEXT.test(text)) return text.normalize('NFC');
  if (!QUOTED.test(text)) return undefined;
  const unquoted = text.slice(1, -1).replace(/\\(.)/gu, '$1').normalize('NFC');
  return unquoted === '' ? undefined : unquoted;
}

/** Parses a domain or address literal to the form of {@link Address.domain}. */
export function parseDomain(text: string): string | undefined {
  if (LITERAL.test(text)) return text.toLowerCase();
  // Full-width and ideographic dots, which IDNA maps to '.', are rejected: they occur only in spoofed addresses.
  if (text === '' || text.length > 255 || /[\uff0e\u3002\uff61\s%]/u.test(text)) return undefined;
  const ascii = /^[\x21-\x7e]+$/.test(text) ? text.toLowerCase() : toALabels(text);
  const labels = ascii.split('.');
  if (ascii === '' || ascii.length > 253 || !labels.every((label) => LABEL.test(label))) return undefined;
  // An A-label must round-trip, or two spellings of one domain would differ.
  if (labels.some((label) => label.startsWith('xn--')) && domainToASCII(ascii) !== ascii) return undefined;
  return /^\d+$/.test(labels.at(-1) ?? '') ? undefined : ascii;
}

/**
 * Converts a domain with U-labels; '' if IDNA would map its characters to others, such as full-width letters or a soft
 * hyphen: the text on the wire would be another domain to a parser that does not map.
 */
function toALabels(text: string): string {
  const ascii = domainToASCII(text);
  // Letter by letter: a capital sigma at the end of a word has another small letter.
  const lowered = Array.from(text.normalize('NFC'), (letter) => letter.toLowerCase()).join('');
  return domainToUnicode(ascii) === lowered ? ascii : '';
}

/** Formats an address for the wire; quotes the local part only if RFC 5321 4.1.2 requires it. */
export function formatAddress(address: Address): string {
  const { local, domain } = address;
  return ATEXT.test(local) ? `${local}@${domain}` : `"${local.replace(/["\\]/g, '\\$&')}"@${domain}`;
}

/** Returns the lookup key of an address: hosted local parts are case-insensitive. */
export function addressKey(address: Address): string {
  return `${address.local.toLowerCase()}@${address.domain}`;
}

/**
 * Converts a lookup key back into an address, in lower case; undefined for ''. Splits at the last "@", as a key holds
 * quoted local parts without their quotes and would not parse.
 */
export function keyedAddress(key: string): Address | undefined {
  const at = key.lastIndexOf('@');
  return at <= 0 ? undefined : { local: key.slice(0, at), domain: key.slice(at + 1) };
}

/** {@link addressKey} of a stored address text. */
export function textKey(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? text.toLowerCase() : addressKey(address);
}

/** Removes `+detail`; undefined without one. RFC 5233. */
export function withoutDetail(address: Address): Address | undefined {
  const plus = address.local.indexOf('+');
  return plus > 0 ? { local: address.local.slice(0, plus), domain: address.domain } : undefined;
}

/** True when sending to this address needs SMTPUTF8 on the next hop. RFC 6531 3.2. */
export function needsUtf8(address: Address): boolean {
  return /[^\x20-\x7e]/.test(address.local);
}

/** Lists the lookup keys of an address, exact first, then without `+detail`. RFC 5233. */
export function lookupKeys(address: Address): string[] {
  const plain = withoutDetail(address);
  return plain === undefined ? [addressKey(address)] : [addressKey(address), addressKey(plain)];
}
