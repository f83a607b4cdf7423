import { isAlias, MAX_ALIAS_ACCOUNTS } from '../address/alias.ts';
import { canRestoreAlias, writeAlias } from '../address/restored-alias.ts';
import { setAliasTargets, type StoredAlias } from '../address/stored-alias.ts';
import { isDeletedAddress } from '../address/deleted-address.ts';
import { query, type Read, type Stamp, type Write } from '../engine/types.ts';
import type { KeptRows } from './account-retirement.ts';
import { dropDeletionRecord } from './account-removal.ts';
import { insertCredential, type NewCredential } from './credential.ts';

export type RestoreAccountResult<Kept extends KeptRows = KeptRows> =
  | {
      kind: 'restored';
      /** Domain claim of its address. */
      domain: number;
      password: 'kept' | 'replaced';
      kept: Kept;
      /** Addresses of aliases that could not be restored. */
      lostAliases: string[];
    }
  | { kind: 'missing' }
  /** The tenant no longer has the domain. */
  | { kind: 'no-domain'; domain: string }
  /** A mailbox or alias has the address now. */
  | { kind: 'address-taken'; address: string };

/**
 * Restores a deleted account with its address, aliases, and the password that a person set, else with `password`. A
 * frozen one cannot be used until its organization is unfrozen.
 */
export async function restoreAccount<Kept extends KeptRows>(
  tx: Write,
  input: { tenant: number; account: number; password: NewCredential; frozen: boolean },
  stamp: Stamp,
): Promise<RestoreAccountResult<Kept>> {
  const { tenant, account } = input;
  const row = await tx.get<{ kept: string }>(
    'SELECT kept FROM deleted_account WHERE account_id = ? AND tenant = ?',
    account,
    tenant,
  );
  if (row === undefined) return { kind: 'missing' };
  const kept = JSON.parse(row.kept) as Kept;
  const { key, createdAt } = kept.address;
  const domain = await claimOf(tx, tenant, key);
  if (domain === undefined) return { kind: 'no-domain', domain: domainPart(key) };
  const taken = await tx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', key, domain);
  if (taken !== undefined || (await isAlias(tx, domain, key))) return { kind: 'address-taken', address: key };
  await tx.run('UPDATE account SET state = ? WHERE id = ? AND state = 3', Number(!input.frozen), account);
  await tx.run(
    `INSERT INTO address (key, domain_id, account_id, kind, created_at) VALUES (?, ?, ?, 'mailbox', ?)`,
    key,
    domain,
    account,
    createdAt,
  );
  await dropDeletionRecord(tx, account);
  await insertCredential(tx, account, keptCredential(kept) ?? input.password, kept.password?.createdAt ?? stamp.now);
  const lostAliases = await restoreAliases(tx, { tenant, account, kept });
  return { kind: 'restored', domain, password: kept.password === null ? 'replaced' : 'kept', kept, lostAliases };
}

function keptCredential({ password }: KeptRows): NewCredential | undefined {
  if (password === null) return undefined;
  const { ref, name, scopes, storedKey, serverKey, sealed } = password;
  return {
    ref,
    kind: 'mailbox',
    name,
    scopes: scopes.split(' '),
    storedKey: Buffer.from(storedKey, 'hex'),
    serverKey: Buffer.from(serverKey, 'hex'),
    sealed: sealed === null ? null : Buffer.from(sealed, 'hex'),
    expiresAt: null,
  };
}

async function claimOf(rx: Read, tenant: number, key: string): Promise<number | undefined> {
  const row = await rx.get<{ id: number }>(
    'SELECT id FROM domain WHERE tenant = ? AND name = ?',
    tenant,
    domainPart(key),
  );
  return row?.id;
}

function domainPart(key: string): string {
  return key.slice(key.lastIndexOf('@') + 1);
}

async function restoreAliases(
  tx: Write,
  { tenant, account, kept }: { tenant: number; account: number; kept: KeptRows },
): Promise<string[]> {
  for (const id of kept.sharedAliases) await addToAlias(tx, { tenant, id, account });
  const lost: string[] = [];
  for (const alias of kept.aliases) if (!(await restoreAlias(tx, alias, account))) lost.push(alias.key);
  return lost;
}

/** The domain may have been removed and added again: its claim has another number. */
async function restoreAlias(tx: Write, alias: StoredAlias, account: number): Promise<boolean> {
  const domain = await claimOf(tx, alias.tenant, alias.key);
  if (domain === undefined || !(await canRestoreAlias(tx, { ...alias, domain_id: domain }))) return false;
  await writeAlias(tx, { ...alias, domain_id: domain });
  await setAliasTargets(tx, alias.id, [account]);
  return true;
}

async function addToAlias(
  tx: Write,
  { tenant, id, account }: { tenant: number; id: number; account: number },
): Promise<void> {
  await tx.run(
    `INSERT INTO alias_account (alias_id, account_id) SELECT id, ?3 FROM alias a WHERE a.id = ?1 AND a.tenant = ?2
       AND (SELECT count(*) FROM alias_account WHERE alias_id = a.id) < ?4 ON CONFLICT DO NOTHING`,
    id,
    tenant,
    account,
    MAX_ALIAS_ACCOUNTS,
  );
}

/** Reports whether an address belongs to a deleted account of the tenant: who takes it gets mail meant for that one. */
export const isReservedAddress = query(
  'is-reserved-address',
  (rx, input: { tenant: number; key: string }): Promise<boolean> => isDeletedAddress(rx, input.tenant, input.key),
);
