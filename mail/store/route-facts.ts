import { OPERATOR } from './account.ts';
import { aliasAt, isOver, type MetAlias, wildAlias } from './alias-use.ts';
import { canaryAccount } from './canary.ts';
import { query, type Read } from './engine/types.ts';
import { anyRules } from './sender-rule.ts';

/** What a recipient address is asked about. */
export interface RouteQuestion {
  domain: string;
  /** Its forms from most to least exact. */
  keys: readonly string[];
  /** postmaster@ or abuse@. */
  role: boolean;
  /** Octets that there must be room for. */
  size: number;
  /** ms UTC, for aliases that are over by then; null: they lead on. */
  now: number | null;
}

export interface RouteFacts {
  /** Whether any tenant onboarded the domain, and whether one proved it. */
  domain: 'none' | 'unverified' | 'verified';
  /** Everybody to whom it leads, and those of them who have room. */
  all: readonly number[];
  accounts: readonly number[];
  /** By which alias. */
  alias: number | null;
  /** The alias takes nothing more. */
  over: boolean;
  /** Mail for it goes on to other addresses. */
  forwards: boolean;
  /** So it is meant, but none of these forwards passes anything on for now. */
  waits: boolean;
  /** The tenant has rules about who writes to it. */
  ruled: boolean;
}

const NOTHING = { all: [], accounts: [], alias: null, over: false, forwards: false, waits: false, ruled: false };

/** What is known of a recipient address. */
export const routeFacts = query('route-facts', async (rx, asked: RouteQuestion): Promise<RouteFacts> => {
  const domain = await rx.get<Domain>(
    'SELECT id, state, tenant FROM domain WHERE name = ? ORDER BY state DESC LIMIT 1',
    asked.domain,
  );
  if (domain === undefined) return { domain: 'none', ...NOTHING };
  if (domain.state !== 1) return { domain: 'unverified', ...NOTHING };
  const found = await meaning(rx, domain, asked);
  const { account, alias, forwards } = asked.role && isEnded(found, asked) ? await atRole(rx, domain) : found;
  const all = account === null ? (alias?.accounts ?? []) : [account];
  const accounts: number[] = [];
  for (const one of all) if (await hasRoom(rx, one, asked.size)) accounts.push(one);
  return {
    domain: 'verified',
    all,
    accounts,
    alias: alias?.id ?? null,
    over: isEnded({ alias }, asked),
    forwards: forwards !== 'none',
    waits: forwards === 'waiting',
    ruled: all.length > 0 && (await anyRules(rx, domain.tenant, false)),
  };
});

type Domain = { state: number; tenant: number; id: number };

interface Meaning {
  account: number | null;
  alias: MetAlias | undefined;
  forwards: 'none' | 'waiting' | 'active';
}

/** The most exact form of an address that means anything decides; what fits by a `*`, and roles, come last. */
async function meaning(rx: Read, domain: Domain, { keys, role }: RouteQuestion): Promise<Meaning> {
  for (const key of keys) {
    const forwards = await findForwards(rx, domain.id, key);
    const account = await accountAt(rx, domain.id, key);
    const alias = account === null ? await aliasAt(rx, domain.id, key) : undefined;
    if (account !== null || alias !== undefined || forwards !== 'none') return { account, alias, forwards };
  }
  for (const key of keys) {
    const account = await canaryAccount(rx, domain.id, key);
    if (account !== null) return { account, alias: undefined, forwards: 'none' };
  }
  const [whole = ''] = keys;
  const alias = await wildAlias(rx, domain.id, whole.slice(0, whole.lastIndexOf('@')));
  if (alias === undefined && role) return atRole(rx, domain);
  return { account: null, alias, forwards: 'none' };
}

function isEnded({ alias }: Pick<Meaning, 'alias'>, { now }: RouteQuestion): boolean {
  return alias !== undefined && now !== null && isOver(alias, now);
}

async function atRole(rx: Read, domain: Domain): Promise<Meaning> {
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

async function findForwards(rx: Read, domain: number, key: string): Promise<Meaning['forwards']> {
  const row = await rx.get<{ active: number | null }>(
    'SELECT max(pending = 0 AND stopped = 0) AS active FROM forwarder WHERE source_key = ? AND domain_id = ?',
    key,
    domain,
  );
  if (row === undefined || row.active === null) return 'none';
  return row.active === 1 ? 'active' : 'waiting';
}

/** RFC 1870 6.1: a recipient without room for a message of that size is refused before the message is sent. */
async function hasRoom(rx: Read, account: number, size: number): Promise<boolean> {
  const full = await rx.get(
    'SELECT 1 AS full FROM account WHERE id = ? AND (used_bytes + ? > quota_bytes OR used_count >= quota_count)',
    account,
    size,
  );
  return full === undefined;
}

/** Whether one of these accounts has room for so many octets. */
export const haveRoom = query(
  'have-room',
  async (rx, { accounts, size }: { accounts: readonly number[]; size: number }): Promise<boolean> => {
    for (const one of accounts) if (await hasRoom(rx, one, size)) return true;
    return false;
  },
);

/**
 * RFC 5321 4.5.1, RFC 2142: postmaster@ and abuse@ reach somebody on every hosted domain: its first account, else its
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
