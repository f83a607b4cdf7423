import { CHOSEN } from '../actor.ts';
import { flagless, command, lookup, type Write } from '../engine/types.ts';

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

/** Inserts a credential of an account. Returns its id. */
export async function insertCredential(
  tx: Write,
  account: number,
  credential: NewCredential,
  now: number,
): Promise<number> {
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

export type SetPasswordResult =
  /** `old`: revoked credentials, whose sessions must end. */
  { kind: 'set'; old: number[] } | { kind: 'missing' };

/** Replaces the account's own password. */
export const setPassword = command(
  'set-password',
  async (tx, input: { account: number; credential: NewCredential }, stamp): Promise<SetPasswordResult> => {
    const account = await tx.get('SELECT 1 AS there FROM account WHERE id = ? AND state < 2', input.account);
    if (account === undefined) return { kind: 'missing' };
    const old = await tx.all<{ id: number }>(
      `DELETE FROM credential WHERE account_id = ? AND kind = 'mailbox' RETURNING id`,
      input.account,
    );
    for (const { id } of old) tx.loginsEnded(input.account, id);
    await insertCredential(tx, input.account, input.credential, stamp.now);
    return { kind: 'set', old: old.map((row) => row.id) };
  },
);

/** Records when credentials were last used. Called in bulk every 30 s. */
export const stampCredentials = command(
  'stamp-credentials',
  async (tx, input: { used: readonly (readonly [credential: number, at: number])[] }): Promise<void> => {
    for (const [credential, at] of input.used) {
      await tx.run('UPDATE credential SET last_used_at = ? WHERE id = ?', at, credential);
    }
  },
);

export interface LoginRow {
  account: number;
  tenant: number;
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

interface LoginColumns extends Record<string, number | string | null | Uint8Array> {
  account: number;
  tenant: number;
  address: string;
  salt: Uint8Array;
  iterations: number;
  id: number | null;
  stored_key: Uint8Array;
  server_key: Uint8Array;
  scopes: string;
  expires_at: number | null;
}

/** Account and credentials for a login by its primary address; the account on a verified domain takes precedence. */
export const findLogin = flagless(
  lookup('find-login', async (rx, input: { key: string }): Promise<LoginRow | undefined> => {
    const rows = await rx.all<LoginColumns>(
      `SELECT f.account, f.tenant, f.address, f.salt, f.iterations, c.id, c.stored_key, c.server_key, c.scopes, c.expires_at
     FROM (SELECT a.id AS account, a.tenant, a.address, a.salt, a.iterations FROM address d
         JOIN account a ON a.id = d.account_id JOIN domain o ON o.id = d.domain_id
       WHERE d.key = ? AND a.state = 1 ORDER BY o.state DESC, o.id LIMIT 1) f
     LEFT JOIN credential c ON c.account_id = f.account`,
      input.key,
    );
    const [found] = rows;
    if (found === undefined) return undefined;
    const { account, tenant, address, salt, iterations } = found;
    const credentials = rows.flatMap(({ id, ...row }) =>
      id === null
        ? []
        : {
            id,
            storedKey: row.stored_key,
            serverKey: row.server_key,
            scopes: row.scopes.split(' '),
            expiresAt: row.expires_at,
          },
    );
    return { account, tenant, address, salt, iterations, credentials };
  }),
);

/** SCRAM salt and iteration count for a new credential of an account. */
export const accountSalt = lookup(
  'account-salt',
  (rx, input: { account: number }): Promise<{ salt: Uint8Array; iterations: number } | undefined> =>
    rx.get('SELECT salt, iterations FROM account WHERE id = ? AND state < 2', input.account),
);

export interface SealedPassword {
  ref: string;
  sealed: Uint8Array;
  /** A person chose it. */
  chosen: boolean;
}

/** The sealed password of the account, bound to `credential` and `ref`. */
export const sealedPassword = lookup(
  'sealed-password',
  async (rx, input: { account: number }): Promise<SealedPassword | undefined> => {
    const row = await rx.get<{ ref: string; sealed: Uint8Array | null; scopes: string }>(
      `SELECT ref, sealed, scopes FROM credential WHERE account_id = ? AND kind = 'mailbox'`,
      input.account,
    );
    if (row === undefined || row.sealed === null) return undefined;
    return { ref: row.ref, sealed: row.sealed, chosen: row.scopes.split(' ').includes(CHOSEN) };
  },
);

/** Adds an app password. `by`: the agent that requests it. */
export const addAppPassword = command(
  'add-app-password',
  async (
    tx,
    input: { account: number; credential: NewCredential; by?: string | null },
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'missing' | 'too-many' }> => {
    const { account, by } = input;
    const row = await tx.get<{ tenant: number; held: number }>(
      `SELECT a.tenant, (SELECT count(*) FROM credential WHERE account_id = a.id) AS held FROM account a
       WHERE a.id = ? AND a.state < 2`,
      account,
    );
    if (row === undefined) return { kind: 'missing' };
    // Limit: a SCRAM proof is tried against each credential.
    if (row.held >= 50) return { kind: 'too-many' };
    const id = await insertCredential(tx, account, input.credential, stamp.now);
    const about = { tenant: row.tenant, by, what: 'app-password' } as const;
    await tx.hooks.onRuleChange(tx, about, { before: null, after: { id, account } }, stamp);
    return { kind: 'added', id };
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
    if (changes === 0) return { kind: 'missing' };
    tx.loginsEnded(input.account, input.id);
    return { kind: 'removed' };
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

export const listAppPasswords = lookup(
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
