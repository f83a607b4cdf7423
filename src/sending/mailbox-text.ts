import { type Address, parseAddress } from '../../mail/message/address.ts';
import { type NamedAddress, oneLine } from '../../mail/message/compose.ts';
import { decodeWords } from '../../mail/message/encoded-word.ts';

/**
 * Reads `local@domain` or `Name <local@domain>`; the name may stand in quotes. What has to be guessed is nothing:
 * several addresses in one text, comments, groups, line ends.
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

/** RFC 5321 allows an "@" in quotes; which of two is the one is what readers guess differently. */
function plainAddress(text: string): Address | undefined {
  const address = parseAddress(text);
  return address === undefined || /["@\\\s]/.test(address.local) ? undefined : address;
}

/** Undefined when another reader might see an address, or a second one, in it. */
function nameOf(shown: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/u.exec(shown);
  const name = oneLine(quoted === null ? shown : (quoted[1] ?? '').replace(/\\(.)/gu, '$1'));
  if (/[<>]/.test(name) || hidesAddress(name)) return undefined;
  return quoted === null && /[",;:]/.test(name) ? undefined : name;
}

/** An address in encoded-words, which one reader shows as it stands and another decodes. */
function hidesAddress(name: string): boolean {
  return name.includes('=?') && decodeWords(name).includes('@');
}
