import { type Address, parseAddress } from '../../mail/message/address.ts';
import { type NamedAddress, oneLine } from '../../mail/message/compose-text.ts';
import { decodeWords } from '../../mail/message/encoded-word.ts';

/**
 * Parses `local@domain` or `Name <local@domain>`; the name may be quoted. Undefined for anything ambiguous: several
 * addresses, comments, groups, line ends.
 */
export function readMailbox(text: string): NamedAddress | undefined {
  if (text.length > 500 || /[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(text) || !text.isWellFormed()) return undefined;
  const plain = text.trim();
  const match = /^(.*?)\s*<([^<>]*)>$/u.exec(plain);
  if (match === null) {
    const address = plainAddress(plain);
    return address && { address };
  }
  const [, shown = '', spelled = ''] = match;
  const name = nameOf(shown);
  const address = plainAddress(spelled);
  if (address === undefined || name === undefined) return undefined;
  return name === '' ? { address } : { address, name };
}

/** Refuses quoted local parts: with a second "@" (RFC 5321) parsers disagree about the address. */
function plainAddress(text: string): Address | undefined {
  const address = parseAddress(text);
  return address === undefined || /["@\\\s]/.test(address.local) ? undefined : address;
}

/** Parses a display name; undefined if a mail client might take it for an address. */
function nameOf(shown: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/u.exec(shown);
  const name = oneLine(quoted === null ? shown : (quoted[1] ?? '').replace(/\\(.)/gu, '$1'));
  if (/[<>]/.test(name) || hidesAddress(name)) return undefined;
  return quoted === null && /[",;:]/.test(name) ? undefined : name;
}

/** True if encoded-words hide an address, which only some clients decode. */
function hidesAddress(name: string): boolean {
  return name.includes('=?') && decodeWords(name).includes('@');
}
