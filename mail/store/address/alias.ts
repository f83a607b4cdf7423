import { areTenantAccounts, setAliasTargets, recordAliasChange, storedAlias } from './stored-alias.ts';
import { command, lookup, type Read, type Write } from '../engine/types.ts';

/** Limit for one tenant. */
export const MAX_ALIASES = 1000;
/** Limit of accounts of one alias. */
export const MAX_ALIAS_ACCOUNTS = 50;

/** Settings of an alias. */
export interface AliasTerms {
  /** At least one account of the alias's tenant. */
  accounts: readonly number[];
  note: string;
  /** Expiry, ms UTC; null: never. */
  expiresAt: number | null;
  /** Number of messages that it accepts; null: unlimited. */
  most: number | null;
}

/** The agent that makes the change, recorded for undo; undefined or null: a person. */
interface AliasActor {
  by?: string | null;
}

export interface NewAlias extends AliasTerms, AliasActor {
  tenant: number;
  domain: number;
  /** Lookup key; a `*` in the local part matches any text. */
  key: string;
}

export type AddAliasResult =
  | { kind: 'added'; id: number }
  /** The address exists as a mailbox or alias. */
  | { kind: 'taken' }
  | { kind: 'no-domain' | 'no-account' | 'too-many' };

/** Creates an alias, unless the address exists as a mailbox or alias. */
export const addAlias = command('add-alias', async (tx, input: NewAlias, stamp): Promise<AddAliasResult> => {
  const { tenant, domain, key, accounts, note, expiresAt, most } = input;
  const mine = await tx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', domain, tenant);
  if (mine === undefined) return { kind: 'no-domain' };
  const taken = await tx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', key, domain);
  if (taken !== undefined || (await isAlias(tx, domain, key))) return { kind: 'taken' };
  if (!(await areTenantAccounts(tx, tenant, accounts))) return { kind: 'no-account' };
  if ((await numberOfAliases(tx, tenant)) >= MAX_ALIASES) return { kind: 'too-many' };
  const { head, tail, wild } = partsOf(key);
  const { id } = await tx.run(
    `INSERT INTO alias (tenant, domain_id, key, wildcard, head, tail, note, expires_at, max_messages, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    tenant,
    domain,
    key,
    Number(wild),
    head,
    tail,
    note,
    expiresAt,
    most,
    stamp.now,
  );
  await setAliasTargets(tx, id, accounts);
  await recordAliasChange(tx, input, undefined, await storedAlias(tx, tenant, id), stamp);
  return { kind: 'added', id };
});

/** Splits a local part at its `*`. */
function partsOf(key: string): { head: string; tail: string; wild: boolean } {
  const local = key.slice(0, key.lastIndexOf('@'));
  const star = local.indexOf('*');
  return star < 0
    ? { head: local, tail: '', wild: false }
    : { head: local.slice(0, star), tail: local.slice(star + 1), wild: true };
}

/** Reports whether an alias without `*` exists at this address of a domain. */
export async function isAlias(rx: Read, domain: number, key: string): Promise<boolean> {
  return (await rx.get('SELECT 1 AS there FROM alias WHERE key = ? AND domain_id = ?', key, domain)) !== undefined;
}

/** Number of aliases of a tenant. */
export async function numberOfAliases(rx: Read, tenant: number): Promise<number> {
  const count = await rx.get<{ n: number }>('SELECT count(*) AS n FROM alias WHERE tenant = ?', tenant);
  return count?.n ?? 0;
}

/** A change of an alias; undefined members stay. */
export type AliasChange = { [Term in keyof AliasTerms]?: AliasTerms[Term] | undefined };

/** Changes the settings of an alias. Its message count stays. */
export const changeAlias = command(
  'change-alias',
  async (
    tx,
    { id, tenant, by, accounts, ...terms }: AliasChange & AliasActor & { id: number; tenant: number },
    stamp,
  ): Promise<{ kind: 'changed' | 'missing' | 'no-account' }> => {
    const before = await storedAlias(tx, tenant, id);
    if (before === undefined) return { kind: 'missing' };
    if (accounts !== undefined && !(await areTenantAccounts(tx, tenant, accounts))) return { kind: 'no-account' };
    const { note = before.note, expiresAt = before.expires_at, most = before.max_messages } = terms;
    await tx.run('UPDATE alias SET note = ?, expires_at = ?, max_messages = ? WHERE id = ?', note, expiresAt, most, id);
    if (accounts !== undefined) await setAliasTargets(tx, id, accounts);
    await recordAliasChange(tx, { tenant, by }, before, await storedAlias(tx, tenant, id), stamp);
    return { kind: 'changed' };
  },
);

export const removeAlias = command(
  'remove-alias',
  async (tx, input: AliasActor & { id: number; tenant: number }, stamp): Promise<{ kind: 'removed' | 'missing' }> => {
    const { id, tenant } = input;
    const before = await storedAlias(tx, tenant, id);
    if (before === undefined) return { kind: 'missing' };
    await tx.run('DELETE FROM alias WHERE id = ?', id);
    await tx.run('DELETE FROM alias_account WHERE alias_id = ?', id);
    await recordAliasChange(tx, input, before, undefined, stamp);
    return { kind: 'removed' };
  },
);

/** Removes a deleted account from its aliases, and deletes aliases that have no other account. */
export async function removeFromAliases(tx: Write, account: number): Promise<void> {
  await tx.run(
    `DELETE FROM alias WHERE id IN (SELECT alias_id FROM alias_account WHERE account_id = ?1)
       AND NOT EXISTS (SELECT 1 FROM alias_account o WHERE o.alias_id = alias.id AND o.account_id <> ?1)`,
    account,
  );
  await tx.run('DELETE FROM alias_account WHERE account_id = ?', account);
}

/** Deletes the aliases of a deleted domain. */
export async function deleteDomainAliases(tx: Write, domain: number): Promise<void> {
  await tx.run('DELETE FROM alias_account WHERE alias_id IN (SELECT id FROM alias WHERE domain_id = ?)', domain);
  await tx.run('DELETE FROM alias WHERE domain_id = ?', domain);
}

/** The accounts of a tenant that may send as the alias with exactly this address; empty without such an alias. */
export const aliasSenders = lookup(
  'writers-of',
  async (rx, input: { tenant: number; key: string }): Promise<number[]> => {
    const rows = await rx.all<{ account_id: number }>(
      `SELECT t.account_id FROM alias a JOIN alias_account t ON t.alias_id = a.id
     WHERE a.key = ? AND a.tenant = ? AND a.wildcard = 0 ORDER BY t.account_id`,
      input.key,
      input.tenant,
    );
    return rows.map((row) => row.account_id);
  },
);

export interface Alias {
  id: number;
  domain: number;
  domainName: string;
  key: string;
  wild: boolean;
  accounts: number[];
  note: string;
  expiresAt: number | null;
  most: number | null;
  /** Number of accepted messages. */
  used: number;
  usedAt: number | null;
  /** Domain of the first envelope sender; '' before the first message. */
  firstFrom: string;
  createdAt: number;
}

/** The aliases of a tenant by id, or the one with the given id. */
export const aliasesOf = lookup('aliases-of', async (rx, input: { tenant: number; id?: number }): Promise<Alias[]> => {
  const rows = await rx.all<{
    id: number;
    domain_id: number;
    name: string;
    key: string;
    wildcard: number;
    accounts: string;
    note: string;
    expires_at: number | null;
    max_messages: number | null;
    used: number;
    used_at: number | null;
    first_from: string;
    created_at: number;
  }>(
    `SELECT a.*, d.name, (SELECT json_group_array(account_id) FROM alias_account WHERE alias_id = a.id) AS accounts
     FROM alias a JOIN domain d ON d.id = a.domain_id WHERE a.tenant = ?1 AND (?2 IS NULL OR a.id = ?2) ORDER BY a.id`,
    input.tenant,
    input.id ?? null,
  );
  return rows.map((row) => ({
    id: row.id,
    domain: row.domain_id,
    domainName: row.name,
    key: row.key,
    wild: row.wildcard === 1,
    accounts: JSON.parse(row.accounts) as number[],
    note: row.note,
    expiresAt: row.expires_at,
    most: row.max_messages,
    used: row.used,
    usedAt: row.used_at,
    firstFrom: row.first_from,
    createdAt: row.created_at,
  }));
});
