import { type Address, addressKey, withoutDetail } from '../message/address.ts';
import { blockedAtOnce, outweighing, patternsOf, type SenderRule } from '../policy/sender-rules.ts';
import { operatorAccount, tenantOf } from '../store/account.ts';
import type { Store } from '../store/engine/types.ts';
import { routeFacts } from '../store/route-facts.ts';
import { allowsByName, senderRules } from '../store/sender-rule.ts';

/** What a recipient address means to this box. */
export type Route =
  /** At least one account; `forwards`: a copy goes on to other addresses, or all of it. `aliases`: the one by which it was found. */
  | { kind: 'here'; accounts: readonly number[]; address: Address; forwards: boolean; aliases?: readonly number[] }
  /** No mailbox; mail for it goes on to other addresses. */
  | { kind: 'forward'; address: Address }
  /** No mailbox, and no forward of it passes anything on for now. */
  | { kind: 'waiting' }
  | { kind: 'unknown' }
  | { kind: 'unverified' }
  /** Nobody whom it leads to has room. */
  | { kind: 'full'; accounts: readonly number[]; address: Address; aliases?: readonly number[] }
  /** An alias that was made for a while, or for some messages, and takes no more. */
  | { kind: 'over' }
  /** Everybody whom it leads to blocks who sends this. */
  | { kind: 'blocked'; rule: SenderRule }
  | { kind: 'elsewhere' };

/** What has a say in where a recipient leads, beside its address. */
export interface Asking {
  /** ms UTC. Left out: aliases that are over by now lead on, as reports to who wrote from them should. */
  now?: number;
  /** Octets of the message, as far as that is known. */
  size?: number;
  /** Who sends it: rules are asked about them. */
  from?: () => From;
}

interface From {
  sender: Address | undefined;
  networks: readonly string[];
  /** Rules are asked about the author as well, when the message is there. */
  judged: boolean;
  /** Of who is logged in: nobody is blocked within an organization. */
  account?: number;
}

/**
 * Decides where a recipient leads: mailbox, then alias, then both without the +detail, then aliases with a `*`, at last the
 * roles that every domain has.
 */
export async function route(store: Store, address: Address, asking: Asking = {}): Promise<Route> {
  const { now = null, size = 1, from } = asking;
  const facts = await store.read(routeFacts, {
    domain: address.domain,
    keys: lookupKeys(address),
    role: isRole(address),
    size: Math.max(1, size),
    now,
  });
  if (facts.domain === 'none') return { kind: 'elsewhere' };
  if (facts.domain === 'unverified') return { kind: 'unverified' };
  const { all, accounts, over, forwards, waits, alias, ruled } = facts;
  if (over) return { kind: 'over' };
  const by = alias !== null && { aliases: [alias] };
  if (all.length > 0 && accounts.length === 0) return { kind: 'full', accounts: all, address, ...by };
  if (accounts.length === 0 && waits) return { kind: 'waiting' };
  if (accounts.length === 0) return forwards ? { kind: 'forward', address } : { kind: 'unknown' };
  const here = { kind: 'here', accounts, address, forwards, ...by } as const;
  return ruled && from !== undefined ? spared(store, here, from()) : here;
}

/** Leaves out those who block the sender, before anything of the message has come. */
async function spared(store: Store, here: Route & { kind: 'here' }, from: From): Promise<Route> {
  const patterns = patternsOf({ author: undefined, aligned: false, ...from });
  const open: number[] = [];
  let blocked: SenderRule | undefined;
  const own = from.account === undefined ? undefined : await store.read(tenantOf, { account: from.account });
  for (const account of here.accounts) {
    const isOwn = own !== undefined && (await store.read(tenantOf, { account })) === own;
    const rule = isOwn ? undefined : blockedAtOnce(await store.read(senderRules, { account, patterns }), from);
    const waits = rule && from.judged && (await store.read(allowsByName, { account, named: outweighing(rule) }));
    if (rule === undefined || waits === true) open.push(account);
    else blocked = rule;
  }
  if (open.length > 0 || blocked === undefined) return { ...here, accounts: open };
  return { kind: 'blocked', rule: blocked };
}

/**
 * Where mail that leaves from here leads. A domain that is claimed and not proved is somebody else's as far as anybody
 * knows, or one tenant's claim would keep all others from writing to it.
 */
export async function routeOutward(store: Store, address: Address, asking: Asking = {}): Promise<Route> {
  const where = await route(store, address, asking);
  return where.kind === 'unverified' ? { kind: 'elsewhere' } : where;
}

/** Where an address at the box's own name leads when that is no domain of ours. RFC 5321 4.5.1: its postmaster is there. */
export async function routeAtOwnName(store: Store, address: Address): Promise<Route> {
  const account = isRole(address) ? await store.read(operatorAccount, undefined) : undefined;
  return account === undefined
    ? { kind: 'elsewhere' }
    : { kind: 'here', accounts: [account], address, forwards: false };
}

/** The forms under which an address is looked up, from most to least exact. RFC 5233. */
export function lookupKeys(address: Address): string[] {
  const plain = withoutDetail(address);
  return plain === undefined ? [addressKey(address)] : [addressKey(address), addressKey(plain)];
}

function isRole(address: Address): boolean {
  return ['postmaster', 'abuse'].includes(address.local.toLowerCase());
}
