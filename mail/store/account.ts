import { command, query, type Read, type Stamp, type Write } from './engine/types.ts';
import { addFirstMailboxes } from './mailbox.ts';

/** A credential before it has a row. `sealed` is the password, bound to `credential` and `ref`. */
export interface NewCredential {
  ref: string;
  kind: 'mailbox' | 'app';
  name: string;
  scopes: readonly string[];
  storedKey: Uint8Array;
  serverKey: Uint8Array;
  sealed: Uint8Array | null;
  expiresAt: number | null;
}

export type AddAccountResult = { kind: 'added'; account: number } | { kind: 'address-taken' } | { kind: 'no-domain' };

export interface NewAccount {
  tenant: number;
  domain: number;
  /** As written, and as looked up. */
  address: string;
  key: string;
  salt: Uint8Array;
  iterations: number;
  credential: NewCredential;
}

/** Makes an account with its address, its first mailboxes and its password. */
export async function insertAccount(tx: Write, input: NewAccount, stamp: Stamp): Promise<AddAccountResult> {
  const domain = await tx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', input.domain, input.tenant);
  if (domain === undefined) return { kind: 'no-domain' };
  const taken = await tx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', input.key, input.domain);
  if (taken !== undefined) return { kind: 'address-taken' };
  // Above whatever an account that is gone has given out: the address may be one that mail programs remember.
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

async function insertCredential(tx: Write, account: number, credential: NewCredential, now: number): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO credential (ref, account_id, kind, name, scopes, stored_key, server_key, sealed, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    credential.ref,
    account,
    credential.kind,
    credential.name,
    credential.scopes.join(' '),
    credential.storedKey,
    credential.serverKey,
    credential.sealed,
    now,
    credential.expiresAt,
  );
  return id;
}

export type PasswordSet =
  /** The credential rows that no longer hold, whose sessions must end. */
  { kind: 'set'; old: number[] } | { kind: 'missing' };

/** Replaces the account's own password. */
export const setPassword = command(
  'set-password',
  async (tx, input: { account: number; credential: NewCredential }, stamp): Promise<PasswordSet> => {
    const account = await tx.get('SELECT 1 AS there FROM account WHERE id = ? AND state <> 2', input.account);
    if (account === undefined) return { kind: 'missing' };
    const old = await tx.all<{ id: number }>(
      `DELETE FROM credential WHERE account_id = ? AND kind = 'mailbox' RETURNING id`,
      input.account,
    );
    await insertCredential(tx, input.account, input.credential, stamp.now);
    return { kind: 'set', old: old.map((row) => row.id) };
  },
);

/** Notes when credentials were last used; written in bulk every half minute. */
export const stampCredentials = command(
  'stamp-credentials',
  async (tx, input: { used: readonly (readonly [credential: number, at: number])[] }): Promise<void> => {
    for (const [credential, at] of input.used) {
      await tx.run('UPDATE credential SET last_used_at = ? WHERE id = ?', at, credential);
    }
  },
);

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

export const listAccounts = query('list-accounts', async (rx): Promise<AccountInfo[]> => {
  const rows = await rx.all<InfoColumns>(
    'SELECT id, tenant, address, used_bytes, used_count, quota_bytes, created_at FROM account WHERE state <> 2 ORDER BY id',
  );
  return rows.map(infoOf);
});

/** The accounts of one tenant. */
export const accountsOf = query('accounts-of', async (rx, input: { tenant: number }): Promise<AccountInfo[]> => {
  const rows = await rx.all<InfoColumns>(
    `SELECT id, tenant, address, used_bytes, used_count, quota_bytes, created_at FROM account
     WHERE tenant = ? AND state <> 2 ORDER BY id`,
    input.tenant,
  );
  return rows.map(infoOf);
});

/** One account of a tenant. */
export const accountOf = query(
  'account-of',
  async (rx, input: { tenant: number; id: number }): Promise<AccountInfo | undefined> => {
    const row = await rx.get<InfoColumns>(
      `SELECT id, tenant, address, used_bytes, used_count, quota_bytes, created_at FROM account
       WHERE id = ? AND tenant = ? AND state <> 2`,
      input.id,
      input.tenant,
    );
    return row && infoOf(row);
  },
);

/** The account of a tenant whose own address this is. */
export const accountByKey = query(
  'account-by-key',
  async (rx, input: { tenant: number; key: string }): Promise<AccountInfo | undefined> => {
    const row = await rx.get<InfoColumns>(
      `SELECT a.id, a.tenant, a.address, a.used_bytes, a.used_count, a.quota_bytes, a.created_at
       FROM address d JOIN account a ON a.id = d.account_id
       WHERE d.key = ? AND d.kind = 'mailbox' AND a.tenant = ? AND a.state <> 2`,
      input.key,
      input.tenant,
    );
    return row && infoOf(row);
  },
);

export interface LoginRow {
  account: number;
  address: string;
  salt: Uint8Array;
  iterations: number;
  credentials: {
    id: number;
    storedKey: Uint8Array;
    serverKey: Uint8Array;
    scopes: string[];
    expiresAt: number | null;
  }[];
}

/** What a login is checked against: the account whose own address this is; the one of a proved domain goes first. */
export const findLogin = query('find-login', async (rx, input: { key: string }): Promise<LoginRow | undefined> => {
  const account = await rx.get<{ id: number; address: string; salt: Uint8Array; iterations: number }>(
    `SELECT a.id, a.address, a.salt, a.iterations FROM address d JOIN account a ON a.id = d.account_id
     JOIN domain o ON o.id = d.domain_id WHERE d.key = ? AND a.state = 1 ORDER BY o.state DESC, o.id LIMIT 1`,
    input.key,
  );
  if (account === undefined) return undefined;
  const rows = await rx.all<{
    id: number;
    stored_key: Uint8Array;
    server_key: Uint8Array;
    scopes: string;
    expires_at: number | null;
  }>('SELECT id, stored_key, server_key, scopes, expires_at FROM credential WHERE account_id = ?', account.id);
  return {
    account: account.id,
    address: account.address,
    salt: account.salt,
    iterations: account.iterations,
    credentials: rows.map((row) => ({
      id: row.id,
      storedKey: row.stored_key,
      serverKey: row.server_key,
      scopes: row.scopes.split(' '),
      expiresAt: row.expires_at,
    })),
  };
});

/**
 * Whether the account may write mail from one of these forms of an address: it is its own, on a verified domain whose
 * sending is not paused.
 */
export const ownsAddress = query(
  'owns-address',
  async (rx, input: { account: number; keys: readonly string[] }): Promise<'own' | 'paused' | 'foreign'> => {
    for (const key of input.keys) {
      const row = await rx.get<{ paused_at: number | null }>(
        `SELECT d.paused_at FROM address a JOIN domain d ON d.id = a.domain_id AND d.state = 1
         WHERE a.key = ? AND a.account_id = ?`,
        key,
        input.account,
      );
      if (row !== undefined) return row.paused_at === null ? 'own' : 'paused';
    }
    return 'foreign';
  },
);

export interface RouteFacts {
  /** Whether any tenant onboarded the domain, and whether one proved it. */
  domain: 'none' | 'unverified' | 'verified';
  account: number | null;
  /** No room for one more octet. */
  full: boolean;
  /** Mail for it goes on to other addresses. */
  forwards: boolean;
  /** So it is meant, but none of these forwards passes anything on for now. */
  waits: boolean;
}

/** What is known of a recipient address; `keys` are its forms from most to least exact. */
export const routeFacts = query(
  'route-facts',
  async (rx, input: { domain: string; keys: readonly string[]; postmaster: boolean }): Promise<RouteFacts> => {
    const domain = await rx.get<{ state: number; tenant: number; id: number }>(
      'SELECT id, state, tenant FROM domain WHERE name = ? ORDER BY state DESC LIMIT 1',
      input.domain,
    );
    if (domain === undefined) return { domain: 'none', ...NOBODY };
    if (domain.state !== 1) return { domain: 'unverified', ...NOBODY };
    const found = await findForwards(rx, domain.id, input.keys);
    const forwards = found !== 'none';
    const waits = found === 'waiting';
    let account: number | null = null;
    for (const key of input.keys) {
      const row = await rx.get<{ account_id: number | null }>(
        'SELECT account_id FROM address WHERE key = ? AND domain_id = ?',
        key,
        domain.id,
      );
      account = row?.account_id ?? null;
      if (account !== null) break;
    }
    if (account === null && !forwards && input.postmaster) account = await postmasterOf(rx, domain);
    if (account === null) return { domain: 'verified', ...NOBODY, forwards, waits };
    const full = await rx.get(
      'SELECT 1 AS full FROM account WHERE id = ? AND (used_bytes >= quota_bytes OR used_count >= quota_count)',
      account,
    );
    return { domain: 'verified', account, full: full !== undefined, forwards, waits };
  },
);

const NOBODY = { account: null, full: false, forwards: false, waits: false } as const;

async function findForwards(rx: Read, domain: number, keys: readonly string[]): Promise<'none' | 'waiting' | 'active'> {
  for (const key of keys) {
    const row = await rx.get<{ active: number | null }>(
      'SELECT max(pending = 0 AND stopped = 0) AS active FROM forwarder WHERE source_key = ? AND domain_id = ?',
      key,
      domain,
    );
    if (row !== undefined && row.active !== null) return row.active === 1 ? 'active' : 'waiting';
  }
  return 'none';
}

/** The tenant that runs the box. */
export const OPERATOR = 1;

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

/** The first account of the operator, who is postmaster of the box itself. */
export const operatorAccount = query('operator-account', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ id: number }>(
    'SELECT id FROM account WHERE tenant = ? AND state = 1 ORDER BY id LIMIT 1',
    OPERATOR,
  );
  return row?.id;
});

/** The tenant of an account, or undefined when it does not exist. */
export const tenantOf = query('tenant-of', async (rx, input: { account: number }): Promise<number | undefined> => {
  const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
  return row?.tenant;
});

/** Salt and count for a new credential of an account. */
export const accountSalt = query(
  'account-salt',
  (rx, input: { account: number }): Promise<{ salt: Uint8Array; iterations: number } | undefined> =>
    rx.get('SELECT salt, iterations FROM account WHERE id = ? AND state <> 2', input.account),
);

/** The account's own password as it was sealed, bound to `credential` and `ref`. */
export const sealedPassword = query(
  'sealed-password',
  async (rx, input: { account: number }): Promise<{ ref: string; sealed: Uint8Array } | undefined> => {
    const row = await rx.get<{ ref: string; sealed: Uint8Array | null }>(
      `SELECT ref, sealed FROM credential WHERE account_id = ? AND kind = 'mailbox'`,
      input.account,
    );
    return row === undefined || row.sealed === null ? undefined : { ref: row.ref, sealed: row.sealed };
  },
);

export const addAppPassword = command(
  'add-app-password',
  async (
    tx,
    input: { account: number; credential: NewCredential },
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'missing' | 'too-many' }> => {
    const row = await tx.get<{ held: number }>(
      `SELECT (SELECT count(*) FROM credential WHERE account_id = a.id) AS held FROM account a WHERE a.id = ? AND a.state <> 2`,
      input.account,
    );
    if (row === undefined) return { kind: 'missing' };
    // A proof is tried against each of them, so their number bounds the work of a login.
    if (row.held >= 50) return { kind: 'too-many' };
    return { kind: 'added', id: await insertCredential(tx, input.account, input.credential, stamp.now) };
  },
);

export const removeAppPassword = command(
  'remove-app-password',
  async (tx, input: { account: number; id: number }): Promise<{ kind: 'removed' | 'missing' }> => {
    const { changes } = await tx.run(
      `DELETE FROM credential WHERE id = ? AND account_id = ? AND kind = 'app'`,
      input.id,
      input.account,
    );
    return { kind: changes === 1 ? 'removed' : 'missing' };
  },
);

export interface AppPassword {
  id: number;
  name: string;
  scopes: string[];
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
}

export const listAppPasswords = query(
  'list-app-passwords',
  async (rx, input: { account: number }): Promise<AppPassword[]> => {
    const rows = await rx.all<{
      id: number;
      name: string;
      scopes: string;
      created_at: number;
      expires_at: number | null;
      last_used_at: number | null;
    }>(
      `SELECT id, name, scopes, created_at, expires_at, last_used_at FROM credential
       WHERE account_id = ? AND kind = 'app' ORDER BY id`,
      input.account,
    );
    return rows.map((row) => ({
      id: row.id,
      name: row.name,
      scopes: row.scopes.split(' '),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      lastUsedAt: row.last_used_at,
    }));
  },
);

export const setQuota = command(
  'set-quota',
  async (tx, input: { account: number; bytes: number | null }): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE account SET quota_bytes = ? WHERE id = ? AND state <> 2',
      input.bytes,
      input.account,
    );
    return { kind: changes === 1 ? 'set' : 'missing' };
  },
);
