import { type Address, addressKey, withoutDetail } from '../message/address.ts';
import { routeFacts } from '../store/account.ts';
import type { Store } from '../store/engine/types.ts';

/** What a recipient address means to this box. */
export type Route =
  /** `forwards`: a copy goes on to other addresses, or all of it. */
  | { kind: 'here'; account: number; address: Address; forwards: boolean }
  /** No mailbox; mail for it goes on to other addresses. */
  | { kind: 'forward'; address: Address }
  | { kind: 'unknown' }
  | { kind: 'unverified' }
  | { kind: 'full' }
  | { kind: 'elsewhere' };

/** Decides where a recipient leads: mailbox or alias, then plus-address, then the roles that every domain has. */
export async function route(store: Store, address: Address): Promise<Route> {
  const facts = await store.read(routeFacts, {
    domain: address.domain,
    keys: lookupKeys(address),
    postmaster: isRole(address),
  });
  if (facts.domain === 'none') return { kind: 'elsewhere' };
  if (facts.domain === 'unverified') return { kind: 'unverified' };
  const { account, forwards, full } = facts;
  if (account === null) return forwards ? { kind: 'forward', address } : { kind: 'unknown' };
  return full ? { kind: 'full' } : { kind: 'here', account, address, forwards };
}

/** The forms under which an address is looked up, from most to least exact. RFC 5233. */
export function lookupKeys(address: Address): string[] {
  const plain = withoutDetail(address);
  return plain === undefined ? [addressKey(address)] : [addressKey(address), addressKey(plain)];
}

function isRole(address: Address): boolean {
  return ['postmaster', 'abuse'].includes(address.local.toLowerCase());
}
