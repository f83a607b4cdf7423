import { addressKey, parseDomain } from '../../message/address.ts';
import { guessLatin1 } from '../../message/decode.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import { readableText } from '../../message/header-text.ts';
import { type Field, unfold } from '../../message/header.ts';

/** Somebody whom an address field names. */
export interface Named {
  /** Decoded; '' when there is none. What stands where an address should is shown as one. */
  name: string;
  /** In the form in which addresses are compared; '' where there is none. */
  address: string;
}

const MOST_FIELD = 8192;

/** Who stands in the first field of that lower-case name, at most ten. */
export function namedIn(fields: readonly Field[], field: string): Named[] {
  const value = fields.find(({ name }) => name === field)?.value ?? '';
  return parseAddressList(unfold(value.slice(0, MOST_FIELD)), 10).map(({ name = '', mailbox = '', host = '' }) => {
    const local = guessLatin1(mailbox);
    const domain = parseDomain(guessLatin1(host));
    // The quotes of a local part are gone here: put together as text, it would be no address any more.
    const address = local === '' || domain === undefined ? '' : addressKey({ local: local.normalize('NFC'), domain });
    return { name: readableText(name).trim() || (address === '' ? readableText(mailbox) : ''), address };
  });
}
