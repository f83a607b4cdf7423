import { command, lookup, type Write } from '../../mail/store/engine/types.ts';
import { dropLoneCodes, offerCodes } from './code-commands.ts';
import { auditPerson, type FactorProof, type PersonActor, useProof } from './factor-commands.ts';

/** Starts an enrollment; replaces an unfinished one. `on`: an authenticator app is enrolled. */
export const startTotp = command(
  'start-totp',
  async (
    tx,
    input: { user: number; session: number; secret: Uint8Array },
    stamp,
  ): Promise<{ kind: 'started' | 'on' }> => {
    const { changes } = await tx.run(
      `INSERT INTO totp (user_id, secret, last_step, created_at, session_id) VALUES (?, ?, 0, ?, ?)
       ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at,
         session_id = excluded.session_id WHERE totp.confirmed_at IS NULL`,
      input.user,
      input.secret,
      stamp.now,
      input.session,
    );
    return { kind: changes === 1 ? 'started' : 'on' };
  },
);

/** An enrollment older than this starts again. */
const ENROLLMENT_MS = 60 * 60_000;

/** Sealed secret of the unfinished enrollment of a session: another one could be stolen, and must not learn the secret. */
export const unfinishedTotp = lookup(
  'unfinished-totp',
  (rx, input: { user: number; session: number; now: number }): Promise<{ secret: Uint8Array } | undefined> =>
    rx.get<{ secret: Uint8Array }>(
      'SELECT secret FROM totp WHERE user_id = ? AND session_id = ? AND confirmed_at IS NULL AND created_at > ?',
      input.user,
      input.session,
      input.now - ENROLLMENT_MS,
    ),
);

/** Finishes an enrollment: the app showed a right code. `secret` is the sealed one that was checked. */
export const confirmTotp = command(
  'confirm-totp',
  async (
    tx,
    input: PersonActor & { session: number; secret: Uint8Array; step: number; codes: readonly Uint8Array[] },
    stamp,
  ): Promise<{ kind: 'confirmed'; withCodes: boolean } | { kind: 'stale' }> => {
    const { user, session, secret, step, codes } = input;
    const { changes } = await tx.run(
      'UPDATE totp SET confirmed_at = ?, last_step = ? WHERE user_id = ? AND secret = ? AND confirmed_at IS NULL',
      stamp.now,
      step,
      user,
      secret,
    );
    if (changes === 0) return { kind: 'stale' };
    await tx.run('DELETE FROM pending_sign_in WHERE user_id = ?', user);
    await tx.run(`UPDATE session SET method = 'totp' WHERE id = ? AND user_id = ?`, session, user);
    const withCodes = await offerCodes(tx, user, codes, stamp);
    await auditPerson(tx, input, { operation: 'enable_authenticator' }, stamp);
    return { kind: 'confirmed', withCodes };
  },
);

/** Turns the authenticator app off, by a second factor. */
export const disableTotp = command(
  'disable-totp',
  async (tx, input: PersonActor & { proof: FactorProof }, stamp): Promise<{ kind: 'off' | 'used' }> => {
    if (!(await useProof(tx, input.user, input.proof, stamp))) return { kind: 'used' };
    await tx.run('DELETE FROM totp WHERE user_id = ?', input.user);
    await dropLoneCodes(tx, input.user);
    await auditPerson(tx, input, { operation: 'disable_authenticator' }, stamp);
    return { kind: 'off' };
  },
);

async function removeFactors(tx: Write, user: number): Promise<void> {
  for (const sql of [
    'DELETE FROM totp WHERE user_id = ?',
    'DELETE FROM passkey WHERE user_id = ?',
    'DELETE FROM recovery_code WHERE user_id = ?',
    'DELETE FROM pending_sign_in WHERE user_id = ?',
  ]) {
    await tx.run(sql, user);
  }
}

/** Removes all second factors of the account of an address, for a person who lost them, and ends their sessions. */
export const resetSecondFactors = command(
  'reset-second-factors',
  async (tx, input: { key: string }, stamp): Promise<{ kind: 'reset'; user: number } | { kind: 'nobody' }> => {
    const row = await tx.get<{ id: number }>(
      'SELECT id FROM user WHERE email_key = ? ORDER BY password IS NULL, id LIMIT 1',
      input.key,
    );
    if (row === undefined) return { kind: 'nobody' };
    await removeFactors(tx, row.id);
    await tx.run('DELETE FROM session WHERE user_id = ?', row.id);
    await auditPerson(tx, { user: row.id, ip: '' }, { operation: 'reset_second_factor' }, stamp);
    return { kind: 'reset', user: row.id };
  },
);

/** Second factors of a person, as their page shows them. */
export interface FactorOverview {
  /** Time of enrollment; null: no authenticator app. */
  totpSince: number | null;
  unusedCodes: number;
}

export const factorOverview = lookup(
  'factor-overview',
  async (rx, input: { user: number }): Promise<FactorOverview> => {
    const row = await rx.get<{ since: number | null; codes: number }>(
      `SELECT (SELECT confirmed_at FROM totp WHERE user_id = ?1) AS since,
         (SELECT count(*) FROM recovery_code WHERE user_id = ?1 AND used_at IS NULL) AS codes`,
      input.user,
    );
    return { totpSince: row?.since ?? null, unusedCodes: row?.codes ?? 0 };
  },
);
