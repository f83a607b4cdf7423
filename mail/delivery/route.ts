import { type Address, addressKey, withoutDetail } from '../message/address.ts';
import { operatorAccount, routeFacts } from '../store/account.ts';
import type { Store } from '../store/engine/types.ts';

/** What a recipient address means to this box. */
export type Route =
  /** `forwards`: a copy goes on to other addresses, or all of it. */
  | { kind: 'here'; account: number; address: Address; forwards: boolean }
  /** No mailbox; mail for it goes on to other addresses. */
  | { kind: 'forward'; address: Address }
  /** No mailbox, and no forward of it passes anything on for now. */
  | { kind: 'waiting' }
  | { kind: 'unknown' }
  | { kind: 'unverified' }
  | { kind: 'full'; account: number; address: Address }
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
  const { account, forwards, waits, full } = facts;
  if (account === null && waits) return { kind: 'waiting' };
  if (account === null) return forwards ? { kind: 'forward', address } : { kind: 'unknown' };
  return full ? { kind: 'full', account, address } : { kind: 'here', account, address, forwards };
}

/**
 * Where mail that leaves from here leads. A domain that is claimed and not proved is somebody else's as far as anybody
 * knows, or one tenant's claim would keep all others from writing to it.
 */
export async function routeOutward(store: Store, address: Address): Promise<Route> {
  const where = await route(store, address);
  return where.kind === 'unverified' ? { kind: 'elsewhere' } : where;
}

/** Where an address at the box's own name leads when that is no domain of ours. RFC 5321 4.5.1: its postmaster is there. */
export async function routeAtOwnName(store: Store, address: Address): Promise<Route> {
  const account = isRole(address) ? await store.read(operatorAccount, undefined) : undefined;
  return account === undefined ? { kind: 'elsewhere' } : { kind: 'here', account, address, forwards: false };
}

/** The forms under which an address is looked up, from most to least exact. RFC 5233. */
export function lookupKeys(address: Address): string[] {
  const plain = withoutDetail(address);
  return plain === undefined ? [addressKey(address)] : [addressKey(address), addressKey(plain)];
}

function isRole(address: Address): boolean {
  return ['postmaster', 'abuse'].includes(address.local.toLowerCase());
}
