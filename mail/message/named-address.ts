import { domainToASCII } from 'node:url';
import { guessLatin1, isSevenBit } from './decode.ts';
import { decodeWords } from './encoded-word.ts';
import type { HeaderAddress } from './header-addresses.ts';
import { readableText } from './header-text.ts';

/** EmailAddress of RFC 8621 4.1.2.3. */
export interface EmailAddress {
  name: string | null;
  /** As written; may be no valid address. */
  email: string;
}

/** EmailAddressGroup of RFC 8621 4.1.2.4. Name null: addresses outside of groups. */
export interface AddressGroup {
  name: string | null;
  addresses: EmailAddress[];
}

/** Lists the members of an address field without group markers. */
export function namedAddresses(members: readonly HeaderAddress[]): EmailAddress[] {
  return members.filter(({ host }) => host !== undefined).map(toEmailAddress);
}

/** Groups the members; consecutive ones outside of groups share a nameless group. */
export function addressGroups(members: readonly HeaderAddress[]): AddressGroup[] {
  const groups: AddressGroup[] = [];
  let open: AddressGroup | undefined;
  for (const member of members) {
    if (member.host !== undefined) {
      if (open === undefined) groups.push((open = { name: null, addresses: [] }));
      open.addresses.push(toEmailAddress(member));
    } else if (member.mailbox === undefined) open = undefined;
    else groups.push((open = { name: readableText(member.mailbox), addresses: [] }));
  }
  return groups;
}

function toEmailAddress({ name, mailbox = '', host = '' }: HeaderAddress): EmailAddress {
  const readable = name === undefined ? '' : readableText(name).trim();
  const local = unwrapped(mailbox);
  return {
    name: readable === '' ? null : readable,
    email: (host === '' ? local : `${quotedLocal(local)}@${hostText(host)}`).replaceAll('\0', '').toWellFormed(),
  };
}

/** Decodes a local part of ENVELOPE, where a non-ASCII one is an encoded-word. */
function unwrapped(mailbox: string): string {
  if (!mailbox.startsWith('=?utf-8?B?')) return guessLatin1(mailbox);
  const decoded = decodeWords(mailbox);
  return /[^\x00-\x7f]/.test(decoded) ? decoded : mailbox;
}

/** Quotes a local part if needed. RFC 5322 3.4.1. Misplaced dots are not quoted, as real addresses have them. */
function quotedLocal(local: string): string {
  return /[\s"(),:;<>@[\]\\]/.test(local) ? `"${local.replace(/["\\]/g, '\\$&')}"` : local;
}

/** Converts a host to the same form as in ENVELOPE. */
function hostText(host: string): string {
  return isSevenBit(host) ? host : domainToASCII(guessLatin1(host)) || guessLatin1(host);
}
