import { domainToASCII } from 'node:url';

/**
 * A mail address after the one strict parse that every decision about authority rests on. The same object is checked,
 * stored and written to the wire; nothing parses it a second time.
 */
export interface Address {
  /** Local part as the sender means it: without quotes and backslashes, case kept. RFC 5321 2.3.11. */
  readonly local: string;
  /** Domain in lower-case A-labels without a trailing dot, or an address literal such as `[192.0.2.1]`. */
  readonly domain: string;
}

// Beyond ASCII: no C1 controls, no line or paragraph separators, no lone surrogates, which have no octets of their own.
const ATEXT =
  /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10FFFF}]+(?:\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10FFFF}]+)*$/u;
const QUOTED = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\u{10FFFF}]|\\[\x20-\x7e])*"$/u;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const LITERAL = /^\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9a-f:.]{2,45})\]$/i;

/**
 * Parses `local@domain` by RFC 5321 4.1.2 (with RFC 6531 UTF-8 local parts and U-labels), or answers undefined.
 * No source route, comment, folding or encoded-word is understood: what is not plainly an address is none.
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

/** Parses a domain or address literal to the form that {@link Address.domain} promises. */
export function parseDomain(text: string): string | undefined {
  if (LITERAL.test(text)) return text.toLowerCase();
  // The full-width and ideographic dots that IDNA maps to '.' are refused: they are only ever seen in disguises.
  if (text === '' || text.length > 255 || /[\uff0e\u3002\uff61\s%]/u.test(text)) return undefined;
  const ascii = /^[\x21-\x7e]+$/.test(text) ? text.toLowerCase() : domainToASCII(text);
  const labels = ascii.split('.');
  if (ascii === '' || ascii.length > 253 || !labels.every((label) => LABEL.test(label))) return undefined;
  // An A-label must be one that decodes, or two spellings of a domain would compare as different.
  if (labels.some((label) => label.startsWith('xn--')) && domainToASCII(ascii) !== ascii) return undefined;
  return /^\d+$/.test(labels.at(-1) ?? '') ? undefined : ascii;
}

/** Writes an address as it goes on the wire, quoting the local part only where RFC 5321 4.1.2 asks for it. */
export function formatAddress(address: Address): string {
  const { local, domain } = address;
  return ATEXT.test(local) ? `${local}@${domain}` : `"${local.replace(/["\\]/g, '\\$&')}"@${domain}`;
}

/** The form under which an address is looked up: hosted local parts are matched without regard to case. */
export function addressKey(address: Address): string {
  return `${address.local.toLowerCase()}@${address.domain}`;
}

/**
 * The address of a key, all of it in lower case; undefined for ''. This is no parse, which would refuse what a key holds
 * without its quotes: a domain has no "@", so the last one parts the two.
 */
export function keyedAddress(key: string): Address | undefined {
  const at = key.lastIndexOf('@');
  return at <= 0 ? undefined : { local: key.slice(0, at), domain: key.slice(at + 1) };
}

/** {@link addressKey} of a text that was an address when it was written down. */
export function textKey(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? text.toLowerCase() : addressKey(address);
}

/** The address without `+detail`, or undefined when there is none. RFC 5233. */
export function withoutDetail(address: Address): Address | undefined {
  const plus = address.local.indexOf('+');
  return plus > 0 ? { local: address.local.slice(0, plus), domain: address.domain } : undefined;
}

/** True when sending to this address needs SMTPUTF8 on the next hop. RFC 6531 3.2. */
export function needsUtf8(address: Address): boolean {
  return /[^\x20-\x7e]/.test(address.local);
}
