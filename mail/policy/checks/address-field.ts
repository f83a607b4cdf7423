import { addressKey, parseDomain } from '../../message/address.ts';
import { guessLatin1 } from '../../message/decode.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import { readableText } from '../../message/header-text.ts';
import { type Field, firstField, unfold } from '../../message/header.ts';

/** One mailbox of an address field. */
export interface NamedMailbox {
  /** Display name, decoded; '' for none. Text in place of an address counts as a name. */
  name: string;
  /** Address key; '' for none. */
  address: string;
}

const MAX_FIELD = 8192;

/** Parses the first field with this lower-case name, at most ten mailboxes. */
export function readAddressField(fields: readonly Field[], field: string): NamedMailbox[] {
  const value = firstField(fields, field);
  if (value === undefined) return [];
  return parseAddressList(unfold(value.slice(0, MAX_FIELD)), 10).map(({ name = '', mailbox = '', host = '' }) => {
    const local = guessLatin1(mailbox);
    const domain = parseDomain(guessLatin1(host));
    // The parser removed the quotes of the local part: joined as text, it would not be an address any more.
    const address = local === '' || domain === undefined ? '' : addressKey({ local: local.normalize('NFC'), domain });
    return { name: readableText(name).trim() || (address === '' ? readableText(mailbox) : ''), address };
  });
}
