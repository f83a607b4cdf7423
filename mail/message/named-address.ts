import { domainToASCII } from 'node:url';
import { guessLatin1, isSevenBit } from './decode.ts';
import { decodeWords } from './encoded-word.ts';
import type { HeaderAddress } from './header-addresses.ts';
import { readableText } from './header-text.ts';

/** EmailAddress of RFC 8621 4.1.2.3. */
export interface NamedAddress {
  name: string | null;
  /** As written, which need not be an address at all. */
  email: string;
}

/** EmailAddressGroup of RFC 8621 4.1.2.4. A name of null: these belong to no group. */
export interface AddressGroup {
  name: string | null;
  addresses: NamedAddress[];
}

/** The members of an address field without its groups. */
export function namedAddresses(members: readonly HeaderAddress[]): NamedAddress[] {
  return members.filter(({ host }) => host !== undefined).map(toNamed);
}

/** The members by group; those that follow each other outside of groups are together. */
export function addressGroups(members: readonly HeaderAddress[]): AddressGroup[] {
  const groups: AddressGroup[] = [];
  let open: AddressGroup | undefined;
  for (const member of members) {
    if (member.host !== undefined) {
      if (open === undefined) groups.push((open = { name: null, addresses: [] }));
      open.addresses.push(toNamed(member));
    } else if (member.mailbox === undefined) open = undefined;
    else groups.push((open = { name: readableText(member.mailbox), addresses: [] }));
  }
  return groups;
}

function toNamed({ name, mailbox = '', host = '' }: HeaderAddress): NamedAddress {
  const readable = name === undefined ? '' : readableText(name).trim();
  const local = unwrapped(mailbox);
  return {
    name: readable === '' ? null : readable,
    email: (host === '' ? local : `${quotedLocal(local)}@${hostText(host)}`).replaceAll('\0', '').toWellFormed(),
  };
}

/** ENVELOPE is 7-bit: there a local part beyond ASCII is an encoded-word, and only such a one is. */
function unwrapped(mailbox: string): string {
  if (!mailbox.startsWith('=?utf-8?B?')) return guessLatin1(mailbox);
  const decoded = decodeWords(mailbox);
  return /[^\x00-\x7f]/.test(decoded) ? decoded : mailbox;
}

/** RFC 5322 3.4.1. Dots in odd places are left alone: there are real addresses with them. */
function quotedLocal(local: string): string {
  return /[\s"(),:;<>@[\]\\]/.test(local) ? `"${local.replace(/["\\]/g, '\\$&')}"` : local;
}

/** As ENVELOPE has it, so that one address is one text wherever it is read. */
function hostText(host: string): string {
  return isSevenBit(host) ? host : domainToASCII(guessLatin1(host)) || guessLatin1(host);
}
