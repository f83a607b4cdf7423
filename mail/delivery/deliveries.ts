import { type Address, formatAddress } from '../message/address.ts';
import { type Delivery, deliveryTrace } from './deliver.ts';

/** What an account gets under one of its addresses, or by aliases. `sender` is the envelope's. */
export function deliveryTo(
  account: number,
  address: Address,
  sender: Address | undefined,
  aliases: readonly number[] = [],
): Delivery {
  const to = formatAddress(address);
  const trace = deliveryTrace(sender === undefined ? '' : formatAddress(sender), to);
  return { account, to, trace, ...(aliases.length > 0 && { aliases }) };
}

/** One copy an account, under the first of its addresses that was named; every alias that led to it counts. */
export function oneEach(all: readonly Delivery[]): Delivery[] {
  const each = new Map<number, Delivery>();
  for (const one of all) {
    const { aliases: before = [], ...first } = each.get(one.account) ?? { ...one, aliases: [] };
    const aliases = [...new Set([...before, ...(one.aliases ?? [])])];
    each.set(one.account, { ...first, ...(aliases.length > 0 && { aliases }) });
  }
  return [...each.values()];
}
