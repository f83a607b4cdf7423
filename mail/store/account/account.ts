import { isAlias } from '../address/alias.ts';
import { command, lookup, query, type Stamp, type Write } from '../engine/types.ts';
import { insertCredential, type NewCredential } from './credential.ts';
import { addFirstMailboxes } from '../mailbox/mailbox.ts';

export type AddAccountResult = { kind: 'added'; account: number } | { kind: 'address-taken' } | { kind: 'no-domain' };

export interface NewAccount {
  tenant: number;
  domain: number;
  /** Address as written, and its lookup key. */
  address: string;
  key: string;
  salt: Uint8Array;
  iterations: number;
  credential: NewCredential;
}

/** Creates an account with its address, its first mailboxes and its password. */
export async function insertAccount(tx: Write, input: NewAccount, stamp: Stamp): Promise<AddAccountResult> {
  const domain = await tx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', input.domain, input.tenant);
  if (domain === undefined) return { kind: 'no-domain' };
  const taken = await tx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', input.key, input.domain);
  if (taken !== undefined || (await isAlias(tx, input.domain, input.key))) return { kind: 'address-taken' };
  // Above every UIDVALIDITY of a deleted account, since mail programs may remember the address.
  const { id } = await tx.run(
    `INSERT INTO account (tenant, address, salt, iterations, created_at, uidvalidity_last) VALUES (?, ?, ?, ?, ?,
       coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM setting WHERE name = 'uidvalidity'), 0))`,
    input.tenant,
    input.address,
    input.salt,
    input.iterations,
    stamp.now,
  );
  await tx.run(
    `INSERT INTO address (key, domain_id, account_id, kind, created_at) VALUES (?, ?, ?, 'mailbox', ?)`,
    input.key,
    input.domain,
    id,
    stamp.now,
  );
  await insertCredential(tx, id, input.credential, stamp.now);
  await addFirstMailboxes(tx, id, stamp);
  return { kind: 'added', account: id };
}

export const addAccount = command('add-account', insertAccount);

export interface AccountInfo {
  id: number;
  tenant: number;
  address: string;
  usedBytes: number;
  usedCount: number;
  /** Null: no limit. */
  quotaBytes: number | null;
  createdAt: number;
}

type InfoColumns = {
  id: number;
  tenant: number;
  address: string;
  used_bytes: number;
  used_count: number;
  quota_bytes: number | null;
  created_at: number;
};

function infoOf(row: InfoColumns): AccountInfo {
  return {
    id: row.id,
    tenant: row.tenant,
    address: row.address,
    usedBytes: row.used_bytes,
    usedCount: row.used_count,
    quotaBytes: row.quota_bytes,
    createdAt: row.created_at,
  };
}

export const listAccounts = lookup('list-accounts', async (rx): Promise<AccountInfo[]> => {
  const rows = await rx.all<InfoColumns>(
    'SELECT id, tenant, address, used_bytes, used_count, quota_bytes, created_at FROM account WHERE state < 2 ORDER BY id',
  );
  return rows.map(infoOf);
});

/** The accounts of one tenant. */
export const accountsOf = lookup('accounts-of', async (rx, input: { tenant: number }): Promise<AccountInfo[]> => {
  const rows = await rx.all<InfoColumns>(
    `SELECT id, tenant, address, used_bytes, used_count, quota_bytes, created_at FROM account
     WHERE tenant = ? AND state < 2 ORDER BY id`,
    input.tenant,
  );
  return rows.map(infoOf);
});

/** One account of a tenant. */
export const accountInfo = lookup(
  'account-of',
  async (rx, input: { tenant: number; id: number }): Promise<AccountInfo | undefined> => {
    const row = await rx.get<InfoColumns>(
      `SELECT id, tenant, address, used_bytes, used_count, quota_bytes, created_at FROM account
       WHERE id = ? AND tenant = ? AND state < 2`,
      input.id,
      input.tenant,
    );
    return row && infoOf(row);
  },
);

/** An account by id, for callers that were authenticated with its credential. */
export const accountById = lookup(
  'account-by-id',
  (rx, input: { account: number }): Promise<{ address: string } | undefined> =>
    rx.get<{ address: string }>('SELECT address FROM account WHERE id = ? AND state < 2', input.account),
);

/** The account of a tenant by its primary address. */
export const accountByKey = lookup(
  'account-by-key',
  async (rx, input: { tenant: number; key: string }): Promise<AccountInfo | undefined> => {
    const row = await rx.get<InfoColumns>(
      `SELECT a.id, a.tenant, a.address, a.used_bytes, a.used_count, a.quota_bytes, a.created_at
       FROM address d JOIN account a ON a.id = d.account_id
       WHERE d.key = ? AND d.kind = 'mailbox' AND a.tenant = ? AND a.state < 2`,
      input.key,
      input.tenant,
    );
    return row && infoOf(row);
  },
);

/**
 * Reports whether the account may send from one of these forms of an address: its own, or an alias that delivers to it,
 * on a verified domain whose sending is not paused. A frozen account has none, also for messages in progress.
 */
export const ownsAddress = query(
  'owns-address',
  async (rx, input: { account: number; keys: readonly string[] }): Promise<'own' | 'paused' | 'foreign'> => {
    for (const key of input.keys) {
      const row = await rx.get<{ paused_at: number | null }>(
        `SELECT d.paused_at FROM own_address a JOIN domain d ON d.id = a.domain_id AND d.state = 1
           JOIN account c ON c.id = a.account_id AND c.state = 1
         WHERE a.key = ? AND a.account_id = ?`,
        key,
        input.account,
      );
      if (row !== undefined) return row.paused_at === null ? 'own' : 'paused';
    }
    return 'foreign';
  },
);

/** The tenant that runs the box. */
export const OPERATOR = 1;

/** The first account of the operator, which receives mail for postmaster. */
export const operatorAccount = lookup('operator-account', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ id: number }>(
    'SELECT id FROM account WHERE tenant = ? AND state = 1 ORDER BY id LIMIT 1',
    OPERATOR,
  );
  return row?.id;
});

/** The tenant of an account, or undefined when it does not exist. */
export const tenantOf = lookup('tenant-of', async (rx, input: { account: number }): Promise<number | undefined> => {
  const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
  return row?.tenant;
});

export const setQuota = command(
  'set-quota',
  async (tx, input: { account: number; bytes: number | null }): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE account SET quota_bytes = ? WHERE id = ? AND state < 2',
      input.bytes,
      input.account,
    );
    return { kind: changes === 1 ? 'set' : 'missing' };
  },
);
