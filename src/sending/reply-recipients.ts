import { type Address, addressKey, parseAddress } from '../../mail/message/address.ts';
import type { NamedAddress } from '../../mail/message/compose-text.ts';
import { type Field, unfold } from '../../mail/message/header.ts';
import { parseAddressList } from '../../mail/message/header-addresses.ts';
import { namedAddresses } from '../../mail/message/named-address.ts';
import type { RecipientSource } from './outbound.ts';

/** Recipients of a reply, and the field that each was taken from. */
export interface ReplyRecipients {
  to: NamedAddress[];
  cc: NamedAddress[];
  /** By address key. */
  sources: Map<string, RecipientSource>;
}

const MAX_NAME_CHARS = 100;

/**
 * Determines the recipients of a reply: Reply-To, else From; a reply to an own message goes to its recipients. With `all`,
 * To and Cc are added as Cc (RFC 5322 3.6.3). Own addresses are left out. Mail-Followup-To is ignored: it would let a
 * stranger add recipients.
 */
export async function replyRecipients(
  fields: readonly Field[],
  isOwn: (address: Address) => Promise<boolean>,
  all: boolean,
): Promise<ReplyRecipients> {
  const sources = new Map<string, RecipientSource>();
  const taken = async (list: readonly NamedAddress[], source: RecipientSource): Promise<NamedAddress[]> => {
    const fresh: NamedAddress[] = [];
    for (const one of list) {
      const key = addressKey(one.address);
      if (sources.has(key) || (await isOwn(one.address))) continue;
      sources.set(key, source);
      fresh.push(one);
    }
    return fresh;
  };
  const from = addressesIn(fields, 'from');
  const mine = from.length > 0 && (await areAllOwn(from, isOwn));
  if (mine) {
    const to = await taken(addressesIn(fields, 'to'), 'to');
    return { to, cc: all ? await taken(addressesIn(fields, 'cc'), 'cc') : [], sources };
  }
  const authors = new Set(from.map(({ address }) => addressKey(address)));
  const replyTo = addressesIn(fields, 'reply-to');
  const to: NamedAddress[] = [];
  for (const one of replyTo.length > 0 ? replyTo : from) {
    to.push(...(await taken([one], authors.has(addressKey(one.address)) ? 'from' : 'reply_to')));
  }
  if (!all) return { to, cc: [], sources };
  const others = [...(await taken(addressesIn(fields, 'to'), 'to')), ...(await taken(addressesIn(fields, 'cc'), 'cc'))];
  return { to, cc: others, sources };
}

/** Finds the own address that received a message; replies are sent from it. */
export async function ownRecipient(
  fields: readonly Field[],
  isOwn: (address: Address) => Promise<boolean>,
): Promise<Address | undefined> {
  const named = ['to', 'cc', 'delivered-to', 'from'].flatMap((name) => addressesIn(fields, name));
  for (const { address } of named.slice(0, 100)) if (await isOwn(address)) return address;
  return undefined;
}

async function areAllOwn(
  list: readonly NamedAddress[],
  isOwn: (address: Address) => Promise<boolean>,
): Promise<boolean> {
  for (const { address } of list) if (!(await isOwn(address))) return false;
  return true;
}

/** Unquoted local part: a quoted one can hold a whole sentence, and agents see recipients as trusted facts. */
const PLAIN_LOCAL = /^[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]{1,64}$/u;

/** Addresses read of one field name; above the recipient limit, so that the excess is reported. */
const MAX_ADDRESSES = 200;

/** Lists the plain addresses of all fields with this name, with display names. */
export function addressesIn(fields: readonly Field[], name: string): NamedAddress[] {
  return parseField(fields, name).flatMap(({ address, shown }) => {
    if (address === undefined) return [];
    // Clients may take a display name that looks like an address for the address.
    return [shown === '' || /[@<>]/.test(shown) ? { address } : { address, name: shown }];
  });
}

/** True if a field has an address that cannot be parsed; that recipient would be dropped silently. */
export function hasUnreadableAddress(fields: readonly Field[], name: string): boolean {
  return parseField(fields, name).some(({ address }) => address === undefined);
}

function parseField(fields: readonly Field[], name: string): { address: Address | undefined; shown: string }[] {
  const all = fields
    .filter((field) => field.name === name)
    .flatMap(({ value }) => namedAddresses(parseAddressList(unfold(value), MAX_ADDRESSES)));
  return all.slice(0, MAX_ADDRESSES).map(({ email, name: called }) => {
    const address = parseAddress(email);
    const plain = address !== undefined && PLAIN_LOCAL.test(address.local);
    return { address: plain ? address : undefined, shown: (called ?? '').slice(0, MAX_NAME_CHARS).toWellFormed() };
  });
}
