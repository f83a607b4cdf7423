import { addressKey, parseAddress } from '../../message/address.ts';
import { guessLatin1 } from '../../message/decode.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import { readableText } from '../../message/header-text.ts';
import { type Field, unfold } from '../../message/header.ts';

/** Somebody whom an address field names. */
export interface Named {
  /** Decoded; '' when there is none. */
  name: string;
  /** In the form in which addresses are compared. */
  address: string;
}

const MOST_FIELD = 8192;

/** Who stands in the first field of that lower-case name, at most ten; what is no address is left out. */
export function namedIn(fields: readonly Field[], field: string): Named[] {
  const value = fields.find(({ name }) => name === field)?.value ?? '';
  return parseAddressList(unfold(value.slice(0, MOST_FIELD)), 10).flatMap(({ name = '', mailbox = '', host = '' }) => {
    const address = parseAddress(guessLatin1(`${mailbox}@${host}`));
    return address === undefined ? [] : [{ name: readableText(name).trim(), address: addressKey(address) }];
  });
}
