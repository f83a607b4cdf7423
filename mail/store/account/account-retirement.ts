import { CHOSEN } from '../actor.ts';
import { setAliasTargets, type StoredAlias, storedAlias } from '../address/stored-alias.ts';
import type { Write } from '../engine/types.ts';
import { reserveUidValidities } from './account-removal.ts';

/** Time for which a deleted mailbox or service can be restored. */
export const DELETED_RETENTION_MS = 30 * 24 * 3600_000;

/** Rows of an account that are removed when it is deleted and come back when it is restored. Octets are hexadecimal. */
export interface KeptRows {
  address: { key: string; createdAt: number };
  /** Password of the account; null if the server or an agent set it: a new one is generated. */
  password: KeptPassword | null;
  /** Aliases that led to it only, and ids of aliases that still lead to others. */
  aliases: StoredAlias[];
  sharedAliases: number[];
  /** Number of app passwords, which stay revoked. */
  appPasswords: number;
}

type KeptPassword = {
  ref: string;
  name: string;
  scopes: string;
  storedKey: string;
  serverKey: string;
  sealed: string | null;
  createdAt: number;
};

/**
 * Deletes an account so that it can be restored: logins, delivery and sending end in this commit, as its address, aliases
 * and passwords are removed; its mail stays. Undefined if the tenant has no such account.
 */
export async function retireAccount(
  tx: Write,
  { tenant, account }: { tenant: number; account: number },
): Promise<KeptRows | undefined> {
  const { changes } = await tx.run(
    'UPDATE account SET state = 3 WHERE id = ? AND tenant = ? AND state < 2',
    account,
    tenant,
  );
  if (changes === 0) return undefined;
  // Its address may be used by a new account before it is restored or purged.
  await reserveUidValidities(tx, account);
  const address = await tx.get<{ key: string; createdAt: number }>(
    'DELETE FROM address WHERE account_id = ? RETURNING key, created_at AS "createdAt"',
    account,
  );
  if (address === undefined) throw new Error(`account ${account} has no address`);
  const aliases = await retireAliases(tx, tenant, account);
  for (const { key } of [address, ...aliases.aliases]) {
    await tx.run(
      'INSERT INTO deleted_address (key, account_id, tenant) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      key,
      account,
      tenant,
    );
  }
  return { address, ...aliases, ...(await retirePasswords(tx, account)) };
}

/** Deletes aliases that lead only to the account, and removes it from the others. */
async function retireAliases(
  tx: Write,
  tenant: number,
  account: number,
): Promise<Pick<KeptRows, 'aliases' | 'sharedAliases'>> {
  const aliases: StoredAlias[] = [];
  const sharedAliases: number[] = [];
  const rows = await tx.all<{ id: number }>(
    'SELECT alias_id AS id FROM alias_account WHERE account_id = ? ORDER BY alias_id',
    account,
  );
  for (const { id } of rows) {
    const alias = await storedAlias(tx, tenant, id);
    const others = alias === undefined ? [] : (JSON.parse(alias.accounts) as number[]).filter((one) => one !== account);
    await setAliasTargets(tx, id, others);
    if (others.length > 0) sharedAliases.push(id);
    else await tx.run('DELETE FROM alias WHERE id = ?', id);
    if (alias !== undefined && others.length === 0) aliases.push(alias);
  }
  return { aliases, sharedAliases };
}

/** Deletes all passwords: restored logins would revive push subscriptions and tokens that are bound to them. */
async function retirePasswords(tx: Write, account: number): Promise<Pick<KeptRows, 'password' | 'appPasswords'>> {
  const rows = await tx.all<{ kind: string } & KeptPassword>(
    `SELECT kind, ref, name, scopes, hex(stored_key) AS "storedKey", hex(server_key) AS "serverKey",
       CASE WHEN sealed IS NULL THEN NULL ELSE hex(sealed) END AS sealed, created_at AS "createdAt"
     FROM credential WHERE account_id = ?`,
    account,
  );
  await tx.run('DELETE FROM credential WHERE account_id = ?', account);
  tx.loginsEnded(account);
  const own = rows.find(({ kind, scopes }) => kind === 'mailbox' && scopes.split(' ').includes(CHOSEN));
  const { kind: _, ...password } = own ?? { kind: '' };
  return {
    password: own === undefined ? null : (password as KeptPassword),
    appPasswords: rows.filter(({ kind }) => kind === 'app').length,
  };
}

/** A deleted account. */
export interface DeletedAccount<Kept extends KeptRows = KeptRows> {
  tenant: number;
  account: number;
  kept: Kept;
  /** Public id of the actor. */
  by: string;
}

/** Stores what comes back with a deleted account. Returns the time at which it is purged, ms UTC. */
export async function recordDeletedAccount(
  tx: Write,
  { tenant, account, kept, by }: DeletedAccount,
  now: number,
): Promise<number> {
  const purgeAt = now + DELETED_RETENTION_MS;
  await tx.run(
    `INSERT INTO deleted_account (account_id, tenant, key, kept, deleted_at, purge_at, deleted_by)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    account,
    tenant,
    kept.address.key,
    JSON.stringify(kept),
    now,
    purgeAt,
    by,
  );
  return purgeAt;
}
