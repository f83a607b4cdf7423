import type { Read, Row, Stamp, Write } from '../engine/types.ts';

/** An alias as recorded when an agent changes it. */
export interface StoredAlias extends Row {
  id: number;
  tenant: number;
  domain_id: number;
  key: string;
  wildcard: number;
  head: string;
  tail: string;
  note: string;
  expires_at: number | null;
  max_messages: number | null;
  used: number;
  used_at: number | null;
  first_from: string;
  created_at: number;
  /** JSON list of account ids, ascending. */
  accounts: string;
}

export function storedAlias(rx: Read, tenant: number, id: number): Promise<StoredAlias | undefined> {
  return rx.get<StoredAlias>(
    `SELECT a.*, (SELECT json_group_array(account_id) FROM (SELECT account_id FROM alias_account WHERE alias_id = a.id
       ORDER BY account_id)) AS accounts FROM alias a WHERE a.id = ? AND a.tenant = ?`,
    id,
    tenant,
  );
}

/** Records a change of an alias by an agent, for undo. `by` null or undefined: a person. */
export async function recordAliasChange(
  tx: Write,
  { tenant, by }: { tenant: number; by?: string | null | undefined },
  before: StoredAlias | undefined,
  after: StoredAlias | undefined,
  stamp: Stamp,
): Promise<void> {
  const about = { tenant, by, what: 'alias' } as const;
  await tx.hooks.onRuleChange(tx, about, { before: before ?? null, after: after ?? null }, stamp);
}

/** Reports whether the list is not empty and all are accounts of the tenant. */
export async function areTenantAccounts(rx: Read, tenant: number, accounts: readonly number[]): Promise<boolean> {
  const found = await rx.get<{ n: number }>(
    'SELECT count(*) AS n FROM account WHERE tenant = ? AND state < 2 AND id IN (SELECT value FROM json_each(?))',
    tenant,
    JSON.stringify(accounts),
  );
  return accounts.length > 0 && found?.n === new Set(accounts).size;
}

/** Replaces the accounts of an alias. */
export async function setAliasTargets(tx: Write, id: number, accounts: readonly number[]): Promise<void> {
  await tx.run('DELETE FROM alias_account WHERE alias_id = ?', id);
  for (const account of new Set(accounts)) {
    await tx.run('INSERT INTO alias_account (alias_id, account_id) VALUES (?, ?)', id, account);
  }
}
