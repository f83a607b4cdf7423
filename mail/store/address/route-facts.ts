import { OPERATOR } from '../account/account.ts';
import { aliasAt, isAliasExhausted, type MatchedAlias, wildcardAlias } from './alias-use.ts';
import { isDeletedAddress } from './deleted-address.ts';
import { flagless, lookup, query, type Read } from '../engine/types.ts';
import { anyRules } from '../filter/sender-rule.ts';

/** Input for the routing of a recipient address. */
export interface RouteInput {
  domain: string;
  /** Forms of the address from most to least exact. */
  keys: readonly string[];
  /** postmaster@ or abuse@. */
  role: boolean;
  /** Octets that the quota must have left. */
  size: number;
  /** Time, ms UTC, to reject expired aliases; null: they still match. */
  now: number | null;
}

export interface RouteFacts {
  /** Domain state: unknown, claimed by a tenant, or verified. */
  domain: 'none' | 'unverified' | 'verified';
  /** All receiving accounts, and those of them with quota left. */
  all: readonly number[];
  accounts: readonly number[];
  /** The matched alias; null: none. */
  alias: number | null;
  /** The alias is expired or used up. */
  over: boolean;
  /** The address belongs to a deleted mailbox that can be restored. */
  deleted: boolean;
  /** Mail for it is forwarded. */
  forwards: boolean;
  /** Forwards exist, but none is active. */
  waits: boolean;
  /** The tenant has sender rules. */
  ruled: boolean;
  /** Octets that the quota of the only account has left, Infinity without one; undefined: not looked up. */
  room?: number;
}

const NOTHING = {
  all: [],
  accounts: [],
  alias: null,
  over: false,
  deleted: false,
  forwards: false,
  waits: false,
  ruled: false,
};

/**
 * Routing facts of an address that is the primary one of an account and is not forwarded, as most are; undefined: of
 * any other, for {@link routeFacts}.
 */
export const directRoute = flagless(
  lookup(
    'direct-route',
    async (rx, { domain, keys: [key = ''], size }: RouteInput): Promise<RouteFacts | undefined> => {
      const row = await rx.get<{ account: number; room: number | null; ruled: number }>(
        `SELECT a.id AS account, iif(a.used_count >= a.quota_count, -1, a.quota_bytes - a.used_bytes) AS room,
         EXISTS (SELECT 1 FROM sender_rule WHERE tenant = d.tenant AND outgoing = 0) AS ruled
       FROM domain d CROSS JOIN address k ON k.key = ?2 AND k.domain_id = d.id CROSS JOIN account a ON a.id = k.account_id
       WHERE d.name = ?1 AND d.state = 1
         AND NOT EXISTS (SELECT 1 FROM forwarder WHERE source_key = ?2 AND domain_id = d.id)`,
        domain,
        key,
      );
      if (row === undefined) return undefined;
      const { account, ruled } = row;
      const room = row.room ?? Infinity;
      return {
        domain: 'verified',
        ...NOTHING,
        all: [account],
        accounts: size > room ? [] : [account],
        ruled: ruled === 1,
        room,
      };
    },
  ),
);

/** Routing facts of a recipient address. */
export const routeFacts = flagless(
  query('route-facts', async (rx, input: RouteInput): Promise<RouteFacts> => {
    const domain = await rx.get<Domain>(
      'SELECT id, state, tenant FROM domain WHERE name = ? ORDER BY state DESC LIMIT 1',
      input.domain,
    );
    if (domain === undefined) return { domain: 'none', ...NOTHING };
    if (domain.state !== 1) return { domain: 'unverified', ...NOTHING };
    const found = await matchAddress(rx, domain, input);
    const {
      account,
      alias,
      forwards,
      deleted = false,
    } = input.role && isEnded(found, input) ? await atRole(rx, domain) : found;
    const all = account === null ? (alias?.accounts ?? []) : [account];
    const accounts: number[] = [];
    for (const one of all) if (await hasRoom(rx, one, input.size)) accounts.push(one);
    return {
      domain: 'verified',
      all,
      accounts,
      alias: alias?.id ?? null,
      over: isEnded({ alias }, input),
      deleted,
      forwards: forwards !== 'none',
      waits: forwards === 'waiting',
      ruled: all.length > 0 && (await anyRules(rx, domain.tenant, false)),
    };
  }),
);

type Domain = { state: number; tenant: number; id: number };

interface AddressMatch {
  account: number | null;
  alias: MatchedAlias | undefined;
  forwards: 'none' | 'waiting' | 'active';
  deleted?: true;
}

/** Resolves an address by its most exact form; wildcards and role addresses come last. */
async function matchAddress(rx: Read, domain: Domain, { keys, role }: RouteInput): Promise<AddressMatch> {
  for (const key of keys) {
    const forwards = await findForwards(rx, domain.id, key);
    const account = await accountAt(rx, domain.id, key);
    const alias = account === null ? await aliasAt(rx, domain.id, key) : undefined;
    if (account !== null || alias !== undefined || forwards !== 'none') return { account, alias, forwards };
    if (!role && (await isDeletedAddress(rx, domain.tenant, key))) return { account, alias, forwards, deleted: true };
  }
  for (const key of keys) {
    const account = await canaryAccount(rx, domain.id, key);
    if (account !== null) return { account, alias: undefined, forwards: 'none' };
  }
  const [whole = ''] = keys;
  const alias = await wildcardAlias(rx, domain.id, whole.slice(0, whole.lastIndexOf('@')));
  if (alias === undefined && role) return atRole(rx, domain);
  return { account: null, alias, forwards: 'none' };
}

function isEnded({ alias }: Pick<AddressMatch, 'alias'>, { now }: RouteInput): boolean {
  return alias !== undefined && now !== null && isAliasExhausted(alias, now);
}

async function atRole(rx: Read, domain: Domain): Promise<AddressMatch> {
  return { account: await postmasterOf(rx, domain), alias: undefined, forwards: 'none' };
}

async function accountAt(rx: Read, domain: number, key: string): Promise<number | null> {
  const row = await rx.get<{ account_id: number | null }>(
    'SELECT account_id FROM address WHERE key = ? AND domain_id = ?',
    key,
    domain,
  );
  return row?.account_id ?? null;
}

async function findForwards(rx: Read, domain: number, key: string): Promise<AddressMatch['forwards']> {
  const row = await rx.get<{ active: number | null }>(
    'SELECT max(pending = 0 AND stopped = 0) AS active FROM forwarder WHERE source_key = ? AND domain_id = ?',
    key,
    domain,
  );
  if (row === undefined || row.active === null) return 'none';
  return row.active === 1 ? 'active' : 'waiting';
}

/** RFC 1870 6.1: a recipient without quota for the message is rejected before the message is sent. */
async function hasRoom(rx: Read, account: number, size: number): Promise<boolean> {
  const full = await rx.get(
    'SELECT 1 AS full FROM account WHERE id = ? AND (used_bytes + ? > quota_bytes OR used_count >= quota_count)',
    account,
    size,
  );
  return full === undefined;
}

/** Reports whether an account has quota for so many octets. */
export const accountHasRoom = flagless(
  lookup('account-has-room', (rx, { account, size }: { account: number; size: number }): Promise<boolean> =>
    hasRoom(rx, account, size),
  ),
);

/**
 * RFC 5321 4.5.1, RFC 2142: postmaster@ and abuse@ are delivered on every hosted domain: to its first account, else its
 * tenant's first, else the operator's.
 */
async function postmasterOf(rx: Read, domain: { id: number; tenant: number }): Promise<number | null> {
  const row = await rx.get<{ id: number }>(
    `SELECT a.id FROM account a LEFT JOIN address d ON d.account_id = a.id AND d.domain_id = ?
     WHERE a.tenant IN (?, ?) AND a.state = 1 ORDER BY d.domain_id IS NULL, a.tenant <> ?, a.id LIMIT 1`,
    domain.id,
    domain.tenant,
    OPERATOR,
    domain.tenant,
  );
  return row?.id ?? null;
}

/** The account that holds a canary with this address. */
async function canaryAccount(rx: Read, domain: number, key: string): Promise<number | null> {
  const row = await rx.get<{ account_id: number }>(
    `SELECT c.account_id FROM canary c JOIN account a ON a.id = c.account_id AND a.state < 2
     WHERE c.address_key = ? AND c.domain_id = ?`,
    key,
    domain,
  );
  return row?.account_id ?? null;
}
