import { areOf, lead, noteAlias, storedAlias } from './alias-rows.ts';
import { command, query, type Read, type Write } from './engine/types.ts';

/** Of one tenant. */
export const MOST_ALIASES = 1000;
/** Mailboxes of one alias. */
export const MOST_OF_ALIAS = 50;

/** What people set of an alias. */
export interface AliasTerms {
  /** At least one, of the alias's tenant. */
  accounts: readonly number[];
  note: string;
  /** ms UTC; null: it stays. */
  expiresAt: number | null;
  /** Messages that it takes; null: any number. */
  most: number | null;
}

/** The agent that does it, for who wants it undone; left out or null: a person. */
interface By {
  by?: string | null;
}

export interface NewAlias extends AliasTerms, By {
  tenant: number;
  domain: number;
  /** As looked up; a `*` in the local part stands for any text. */
  key: string;
}

export type AddedAlias =
  | { kind: 'added'; id: number }
  /** As a mailbox, or as an alias. */
  | { kind: 'taken' }
  | { kind: 'no-domain' | 'no-account' | 'too-many' };

/** Makes an alias; an address has one meaning, so none is made where a mailbox or another alias stands. */
export const addAlias = command('add-alias', async (tx, input: NewAlias, stamp): Promise<AddedAlias> => {
  const { tenant, domain, key, accounts, note, expiresAt, most } = input;
  const mine = await tx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', domain, tenant);
  if (mine === undefined) return { kind: 'no-domain' };
  const taken = await tx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', key, domain);
  if (taken !== undefined || (await isAlias(tx, domain, key))) return { kind: 'taken' };
  if (!(await areOf(tx, tenant, accounts))) return { kind: 'no-account' };
  if ((await numberOfAliases(tx, tenant)) >= MOST_ALIASES) return { kind: 'too-many' };
  const { head, tail, wild } = partsOf(key);
  const { id } = await tx.run(
    `INSERT INTO alias (tenant, domain_id, key, wild, head, tail, note, expires_at, most, created_at)
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
  await lead(tx, id, accounts);
  await noteAlias(tx, input, undefined, await storedAlias(tx, tenant, id), stamp);
  return { kind: 'added', id };
});

/** What stands around the `*` of a local part. */
function partsOf(key: string): { head: string; tail: string; wild: boolean } {
  const local = key.slice(0, key.lastIndexOf('@'));
  const star = local.indexOf('*');
  return star < 0
    ? { head: local, tail: '', wild: false }
    : { head: local.slice(0, star), tail: local.slice(star + 1), wild: true };
}

/** Whether an alias stands at exactly this address of a domain. */
export async function isAlias(rx: Read, domain: number, key: string): Promise<boolean> {
  return (await rx.get('SELECT 1 AS there FROM alias WHERE key = ? AND domain_id = ?', key, domain)) !== undefined;
}

/** Of a tenant. */
export async function numberOfAliases(rx: Read, tenant: number): Promise<number> {
  const count = await rx.get<{ n: number }>('SELECT count(*) AS n FROM alias WHERE tenant = ?', tenant);
  return count?.n ?? 0;
}

/** What is set of an alias later; what is undefined stays as it is. */
export type AliasChange = { [Term in keyof AliasTerms]?: AliasTerms[Term] | undefined };

/** Sets where an alias leads and how long; what it took so far stays counted. */
export const changeAlias = command(
  'change-alias',
  async (
    tx,
    { id, tenant, by, accounts, ...terms }: AliasChange & By & { id: number; tenant: number },
    stamp,
  ): Promise<{ kind: 'changed' | 'missing' | 'no-account' }> => {
    const before = await storedAlias(tx, tenant, id);
    if (before === undefined) return { kind: 'missing' };
    if (accounts !== undefined && !(await areOf(tx, tenant, accounts))) return { kind: 'no-account' };
    const { note = before.note, expiresAt = before.expires_at, most = before.most } = terms;
    await tx.run('UPDATE alias SET note = ?, expires_at = ?, most = ? WHERE id = ?', note, expiresAt, most, id);
    if (accounts !== undefined) await lead(tx, id, accounts);
    await noteAlias(tx, { tenant, by }, before, await storedAlias(tx, tenant, id), stamp);
    return { kind: 'changed' };
  },
);

export const removeAlias = command(
  'remove-alias',
  async (tx, input: By & { id: number; tenant: number }, stamp): Promise<{ kind: 'removed' | 'missing' }> => {
    const { id, tenant } = input;
    const before = await storedAlias(tx, tenant, id);
    if (before === undefined) return { kind: 'missing' };
    await tx.run('DELETE FROM alias WHERE id = ?', id);
    await tx.run('DELETE FROM alias_account WHERE alias_id = ?', id);
    await noteAlias(tx, input, before, undefined, stamp);
    return { kind: 'removed' };
  },
);

/** An account goes: what led to it alone goes too, and the other aliases lead to one mailbox less. */
export async function leaveAliases(tx: Write, account: number): Promise<void> {
  await tx.run(
    `DELETE FROM alias WHERE id IN (SELECT alias_id FROM alias_account WHERE account_id = ?1)
       AND NOT EXISTS (SELECT 1 FROM alias_account o WHERE o.alias_id = alias.id AND o.account_id <> ?1)`,
    account,
  );
  await tx.run('DELETE FROM alias_account WHERE account_id = ?', account);
}

/** A domain goes, and its aliases with it. */
export async function dropAliases(tx: Write, domain: number): Promise<void> {
  await tx.run('DELETE FROM alias_account WHERE alias_id IN (SELECT id FROM alias WHERE domain_id = ?)', domain);
  await tx.run('DELETE FROM alias WHERE domain_id = ?', domain);
}

/** The accounts of a tenant that write as the alias at exactly this address; none where there is no such alias. */
export const writersOf = query('writers-of', async (rx, input: { tenant: number; key: string }): Promise<number[]> => {
  const rows = await rx.all<{ account_id: number }>(
    `SELECT t.account_id FROM alias a JOIN alias_account t ON t.alias_id = a.id
     WHERE a.key = ? AND a.tenant = ? AND a.wild = 0 ORDER BY t.account_id`,
    input.key,
    input.tenant,
  );
  return rows.map((row) => row.account_id);
});

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
  /** Messages that it took. */
  used: number;
  usedAt: number | null;
  /** Domain of the first envelope sender, '' while there was none. */
  firstFrom: string;
  createdAt: number;
}

/** The aliases of a tenant in the order in which they were made, or the one that is named. */
export const aliasesOf = query('aliases-of', async (rx, input: { tenant: number; id?: number }): Promise<Alias[]> => {
  const rows = await rx.all<{
    id: number;
    domain_id: number;
    name: string;
    key: string;
    wild: number;
    accounts: string;
    note: string;
    expires_at: number | null;
    most: number | null;
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
    wild: row.wild === 1,
    accounts: JSON.parse(row.accounts) as number[],
    note: row.note,
    expiresAt: row.expires_at,
    most: row.most,
    used: row.used,
    usedAt: row.used_at,
    firstFrom: row.first_from,
    createdAt: row.created_at,
  }));
});
