import { type Address, addressKey, parseAddress } from '../../mail/message/address.ts';
import type { NamedAddress } from '../../mail/message/compose.ts';
import { type Field, unfold } from '../../mail/message/header.ts';
import { parseAddressList } from '../../mail/message/header-addresses.ts';
import { namedAddresses } from '../../mail/message/named-address.ts';
import type { Source } from './outbound.ts';

/** Who gets an answer, and from which field each was taken. */
export interface ReplyRecipients {
  to: NamedAddress[];
  cc: NamedAddress[];
  /** By the addresses as keys. */
  sources: Map<string, Source>;
}

const LONGEST_NAME = 100;

/**
 * To whom an answer goes: Reply-To, else From; an answer to a message of one's own goes where that went. With `all` also
 * to To and Cc, in Cc, as RFC 5322 3.6.3 has it. Own addresses are left out. Mail-Followup-To says nothing here: it would
 * let a stranger choose whom else we write to.
 */
export async function replyRecipients(
  fields: readonly Field[],
  isOwn: (address: Address) => Promise<boolean>,
  all: boolean,
): Promise<ReplyRecipients> {
  const sources = new Map<string, Source>();
  const taken = async (list: readonly NamedAddress[], source: Source): Promise<NamedAddress[]> => {
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
  const mine = from.length > 0 && (await every(from, isOwn));
  if (mine) {
    const to = await taken(addressesIn(fields, 'to'), 'to');
    return { to, cc: all ? await taken(addressesIn(fields, 'cc'), 'cc') : [], sources };
  }
  const authors = new Set(from.map(({ address }) => addressKey(address)));
  const asked = addressesIn(fields, 'reply-to');
  const to: NamedAddress[] = [];
  for (const one of asked.length > 0 ? asked : from) {
    to.push(...(await taken([one], authors.has(addressKey(one.address)) ? 'from' : 'reply_to')));
  }
  if (!all) return { to, cc: [], sources };
  const others = [...(await taken(addressesIn(fields, 'to'), 'to')), ...(await taken(addressesIn(fields, 'cc'), 'cc'))];
  return { to, cc: others, sources };
}

/** The own address that a message came to: answers are written from it. */
export async function ownRecipient(
  fields: readonly Field[],
  isOwn: (address: Address) => Promise<boolean>,
): Promise<Address | undefined> {
  const named = ['to', 'cc', 'delivered-to', 'from'].flatMap((name) => addressesIn(fields, name));
  for (const { address } of named.slice(0, 100)) if (await isOwn(address)) return address;
  return undefined;
}

async function every(list: readonly NamedAddress[], isOwn: (address: Address) => Promise<boolean>): Promise<boolean> {
  for (const { address } of list) if (!(await isOwn(address))) return false;
  return true;
}

/** A local part in quotes can be a whole sentence, and what is written to is told to agents as a fact. */
const PLAIN_LOCAL = /^[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]{1,64}$/u;

/** More than anybody may write to at once; who names more is told so. */
const MOST_NAMED = 200;

/** The plain addresses in all fields of this name, as people call them. */
export function addressesIn(fields: readonly Field[], name: string): NamedAddress[] {
  return listed(fields, name).flatMap(({ address, shown }) => {
    if (address === undefined) return [];
    // A name that looks like an address is what readers take for one.
    return [shown === '' || /[@<>]/.test(shown) ? { address } : { address, name: shown }];
  });
}

/** Whether a field names somebody who is at no plain address: who is written to would be left out without a word. */
export function hasOdd(fields: readonly Field[], name: string): boolean {
  return listed(fields, name).some(({ address }) => address === undefined);
}

function listed(fields: readonly Field[], name: string): { address: Address | undefined; shown: string }[] {
  const all = fields
    .filter((field) => field.name === name)
    .flatMap(({ value }) => namedAddresses(parseAddressList(unfold(value), MOST_NAMED)));
  return all.slice(0, MOST_NAMED).map(({ email, name: called }) => {
    const address = parseAddress(email);
    const plain = address !== undefined && PLAIN_LOCAL.test(address.local);
    return { address: plain ? address : undefined, shown: (called ?? '').slice(0, LONGEST_NAME).toWellFormed() };
  });
}
