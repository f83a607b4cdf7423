import { type Address, lookupKeys } from '../message/address.ts';
import { findEnvelopeBlock, overridingScope, senderPatterns, type SenderRule } from '../policy/sender-rules.ts';
import { operatorAccount, tenantOf } from '../store/account/account.ts';
import type { Store } from '../store/engine/types.ts';
import { directRoute, routeFacts } from '../store/address/route-facts.ts';
import { allowsByName, senderRules } from '../store/filter/sender-rule.ts';

/** At least one account. `aliases`: the alias that matched. `room`: octets that the quota of the only one had left, if known. */
interface TargetAccounts {
  accounts: readonly number[];
  aliases?: readonly number[];
  room?: number;
}

/** Target of a recipient address. */
export type RecipientTarget =
  /** `forwards`: the mail is also or only forwarded. */
  | ({ kind: 'here'; address: Address; forwards: boolean } & TargetAccounts)
  /** No mailbox; mail is forwarded. */
  | { kind: 'forward'; address: Address }
  /** No mailbox, and no active forward at the moment. */
  | { kind: 'waiting' }
  | { kind: 'unknown' }
  /** A deleted mailbox that can be restored. */
  | { kind: 'deleted' }
  | { kind: 'unverified' }
  /** All its accounts are full. */
  | { kind: 'full'; accounts: readonly number[]; address: Address; aliases?: readonly number[] }
  /** An expired or used-up alias. */
  | { kind: 'over' }
  /** All its accounts block the sender. */
  | { kind: 'blocked'; rule: SenderRule }
  | { kind: 'elsewhere' };

/** Options of {@link route}. */
export interface RouteOptions {
  /** ms UTC. Left out: expired aliases still work, as for reports to senders that used them. */
  now?: number;
  /** Size of the message in octets, if known. */
  size?: number;
  /** Sender, for block rules. */
  from?: () => RouteSender;
}

interface RouteSender {
  sender: Address | undefined;
  networks: readonly string[];
  /** The author is checked by rules after DATA. */
  checksAuthorLater: boolean;
  /** Account that is logged in: block rules do not apply within an organization. */
  account?: number;
}

/**
 * Resolves a recipient: mailbox, then alias, then both without +detail, then wildcard aliases, then the role addresses of
 * every domain.
 */
export async function route(store: Store, address: Address, options: RouteOptions = {}): Promise<RecipientTarget> {
  const { now = null, size = 1, from } = options;
  const input = {
    domain: address.domain,
    keys: lookupKeys(address),
    role: isRole(address),
    size: Math.max(1, size),
    now,
  };
  const facts = (await store.read(directRoute, input)) ?? (await store.read(routeFacts, input));
  if (facts.domain === 'none') return { kind: 'elsewhere' };
  if (facts.domain === 'unverified') return { kind: 'unverified' };
  const { all, accounts, over, forwards, waits, alias, ruled, room } = facts;
  if (over) return { kind: 'over' };
  if (facts.deleted) return { kind: 'deleted' };
  const by = alias !== null && { aliases: [alias] };
  if (all.length > 0 && accounts.length === 0) return { kind: 'full', accounts: all, address, ...by };
  if (accounts.length === 0 && waits) return { kind: 'waiting' };
  if (accounts.length === 0) return forwards ? { kind: 'forward', address } : { kind: 'unknown' };
  const here = { kind: 'here', accounts, address, forwards, ...by, ...(room !== undefined && { room }) } as const;
  return ruled && from !== undefined ? withoutBlockers(store, here, from()) : here;
}

/** Leaves out accounts that block the sender, before DATA. */
async function withoutBlockers(
  store: Store,
  here: RecipientTarget & { kind: 'here' },
  from: RouteSender,
): Promise<RecipientTarget> {
  const patterns = senderPatterns({ author: undefined, aligned: false, ...from });
  const open: number[] = [];
  let blocked: SenderRule | undefined;
  const own = from.account === undefined ? undefined : await store.read(tenantOf, { account: from.account });
  for (const account of here.accounts) {
    const isOwn = own !== undefined && (await store.read(tenantOf, { account })) === own;
    const rule = isOwn ? undefined : findEnvelopeBlock(await store.read(senderRules, { account, patterns }), from);
    const waits =
      rule && from.checksAuthorLater && (await store.read(allowsByName, { account, named: overridingScope(rule) }));
    if (rule === undefined || waits === true) open.push(account);
    else blocked = rule;
  }
  if (open.length > 0 || blocked === undefined) return { ...here, accounts: open };
  return { kind: 'blocked', rule: blocked };
}

/**
 * Resolves a recipient of outgoing mail. An unverified domain counts as remote: otherwise the claim of one tenant would keep
 * all others from writing to it.
 */
export async function routeOutward(
  store: Store,
  address: Address,
  options: RouteOptions = {},
): Promise<RecipientTarget> {
  const target = await route(store, address, options);
  return target.kind === 'unverified' ? { kind: 'elsewhere' } : target;
}

/** Resolves an address at the box's own host name if that is no hosted domain. RFC 5321 4.5.1: postmaster exists. */
export async function routeAtOwnName(store: Store, address: Address): Promise<RecipientTarget> {
  const account = isRole(address) ? await store.read(operatorAccount, undefined) : undefined;
  return account === undefined
    ? { kind: 'elsewhere' }
    : { kind: 'here', accounts: [account], address, forwards: false };
}

function isRole(address: Address): boolean {
  return ['postmaster', 'abuse'].includes(address.local.toLowerCase());
}
