import { command, lookup, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { auditPerson, type PersonActor } from './factor-commands.ts';
import { dropLoneCodes, offerCodes } from './code-commands.ts';
import { waitsAfterProvider } from './pending-commands.ts';
import { type NewSession, startSession } from './session-commands.ts';

const CHALLENGE_MS = 10 * 60_000;
const MAX_PASSKEYS = 20;

export type ChallengePurpose = 'sign-in' | 'register';

/** Stores the challenge for one browser, by the hash of its cookie; replaces an earlier one. */
export const addPasskeyChallenge = command(
  'add-passkey-challenge',
  async (tx, input: { hash: Uint8Array; purpose: ChallengePurpose; challenge: Uint8Array }, { now }): Promise<void> => {
    await tx.run(
      `DELETE FROM passkey_challenge WHERE token_hash IN
         (SELECT token_hash FROM passkey_challenge WHERE expires_at <= ? LIMIT 50)`,
      now,
    );
    await tx.run(
      `INSERT INTO passkey_challenge (token_hash, purpose, challenge, expires_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (token_hash) DO UPDATE SET purpose = excluded.purpose, challenge = excluded.challenge,
         expires_at = excluded.expires_at`,
      input.hash,
      input.purpose,
      input.challenge,
      now + CHALLENGE_MS,
    );
  },
);

/** Takes the challenge of a browser: it is answered once, rightly or not. */
export const takePasskeyChallenge = command(
  'take-passkey-challenge',
  async (
    tx,
    input: { hash: Uint8Array; purpose: ChallengePurpose },
    stamp,
  ): Promise<{ challenge: Uint8Array } | undefined> => {
    const row = await tx.get<{ challenge: Uint8Array; expires_at: number }>(
      'SELECT challenge, expires_at FROM passkey_challenge WHERE token_hash = ? AND purpose = ?',
      input.hash,
      input.purpose,
    );
    if (row === undefined) return undefined;
    await tx.run('DELETE FROM passkey_challenge WHERE token_hash = ?', input.hash);
    return row.expires_at > stamp.now ? { challenge: row.challenge } : undefined;
  },
);

export interface StoredPasskey {
  id: number;
  user: number;
  publicKey: Uint8Array;
  counter: number;
}

/** Finds a passkey by the id that its authenticator gave it. */
export const findPasskey = lookup(
  'find-passkey',
  (rx, input: { credentialId: Uint8Array }): Promise<StoredPasskey | undefined> =>
    rx.get<{ id: number; user: number; publicKey: Uint8Array; counter: number }>(
      'SELECT id, user_id AS user, public_key AS "publicKey", counter FROM passkey WHERE credential_id = ?',
      input.credentialId,
    ),
);

/** Starts a session by a passkey; `pending` is the hash of the cookie of its first step, if there was one. `stale`: it was removed, or a cloned authenticator was faster. */
export const signInByPasskey = command(
  'sign-in-by-passkey',
  async (
    tx,
    input: { passkey: number; counter: number; pending: Uint8Array; session: NewSession },
    stamp,
  ): Promise<{ kind: 'in' | 'stale' }> => {
    const { passkey, counter, pending, session } = input;
    const { changes } = await tx.run(
      `UPDATE passkey SET counter = ?1, last_used_at = ?2 WHERE id = ?3 AND user_id = ?4
         AND (counter < ?1 OR (counter = 0 AND ?1 = 0))`,
      counter,
      stamp.now,
      passkey,
      session.user,
    );
    if (changes === 0) return { kind: 'stale' };
    const byProvider = await waitsAfterProvider(tx, pending, session.user, stamp.now);
    await tx.run('DELETE FROM pending_sign_in WHERE user_id = ?', session.user);
    await startSession(tx, { ...session, byProvider }, stamp);
    return { kind: 'in' };
  },
);

/** Adds a passkey. The first second factor of a person brings recovery codes: `codes` are stored if there are none. */
export const addPasskey = command(
  'add-passkey',
  async (
    tx,
    input: PersonActor & {
      session: number;
      name: string;
      passkey: { credentialId: Uint8Array; publicKey: Uint8Array; counter: number };
      codes: readonly Uint8Array[];
    },
    stamp,
  ): Promise<{ kind: 'added'; withCodes: boolean } | { kind: 'known' | 'too-many' }> => {
    const { user, session, name, passkey, codes } = input;
    const all = await tx.get<{ n: number }>('SELECT count(*) AS n FROM passkey WHERE user_id = ?', user);
    if ((all?.n ?? 0) >= MAX_PASSKEYS) return { kind: 'too-many' };
    if (!(await insertPasskey(tx, { user, name, ...passkey }, stamp))) return { kind: 'known' };
    await tx.run(`UPDATE session SET method = 'passkey' WHERE id = ? AND user_id = ?`, session, user);
    await tx.run('DELETE FROM pending_sign_in WHERE user_id = ?', user);
    const withCodes = await offerCodes(tx, user, codes, stamp);
    await auditPerson(tx, input, { operation: 'add_passkey', detail: { name } }, stamp);
    return { kind: 'added', withCodes };
  },
);

async function insertPasskey(
  tx: Write,
  row: { user: number; name: string; credentialId: Uint8Array; publicKey: Uint8Array; counter: number },
  { now }: Stamp,
): Promise<boolean> {
  const { changes } = await tx.run(
    `INSERT INTO passkey (user_id, credential_id, public_key, counter, name, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (credential_id) DO NOTHING`,
    row.user,
    row.credentialId,
    row.publicKey,
    row.counter,
    row.name,
    now,
  );
  return changes === 1;
}

/** Removes a passkey of a person; the last second factor takes the recovery codes with it. */
export const removePasskey = command(
  'remove-passkey',
  async (tx, input: PersonActor & { passkey: number }, stamp): Promise<{ kind: 'removed' | 'missing' }> => {
    const { user, passkey } = input;
    const row = await tx.get<{ name: string }>('SELECT name FROM passkey WHERE id = ? AND user_id = ?', passkey, user);
    if (row === undefined) return { kind: 'missing' };
    await tx.run('DELETE FROM passkey WHERE id = ?', passkey);
    await dropLoneCodes(tx, user);
    await auditPerson(tx, input, { operation: 'remove_passkey', detail: { name: row.name } }, stamp);
    return { kind: 'removed' };
  },
);

export interface PasskeyRow {
  id: number;
  name: string;
  credentialId: Uint8Array;
  createdAt: number;
  lastUsedAt: number | null;
}

export const listPasskeys = lookup('list-passkeys', (rx, input: { user: number }): Promise<PasskeyRow[]> =>
  rx.all<{ id: number; name: string; credentialId: Uint8Array; createdAt: number; lastUsedAt: number | null }>(
    `SELECT id, name, credential_id AS "credentialId", created_at AS "createdAt", last_used_at AS "lastUsedAt"
       FROM passkey WHERE user_id = ? ORDER BY id`,
    input.user,
  ),
);
