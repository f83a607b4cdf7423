import { type Address, formatAddress } from '../message/address.ts';
import { deliveryTrace } from './deliver.ts';
import type { Delivery } from './types.ts';

/** Creates the delivery to an account by one of its addresses or aliases. `sender`: the envelope sender. */
export function createDelivery(
  account: number,
  address: Address,
  sender: Address | undefined,
  aliases: readonly number[] = [],
): Delivery {
  const to = formatAddress(address);
  const trace = deliveryTrace(sender === undefined ? '' : formatAddress(sender), to);
  return { account, to, trace, ...(aliases.length > 0 && { aliases }) };
}

/** Merges deliveries to one per account, under the first named address; all matching aliases count. */
export function onePerAccount(all: readonly Delivery[]): Delivery[] {
  const each = new Map<number, Delivery>();
  for (const one of all) {
    const { aliases: before = [], ...first } = each.get(one.account) ?? { ...one, aliases: [] };
    const aliases = [...new Set([...before, ...(one.aliases ?? [])])];
    each.set(one.account, { ...first, ...(aliases.length > 0 && { aliases }) });
  }
  return [...each.values()];
}
