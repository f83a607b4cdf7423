import { command } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { insertToken } from '../tokens/commands.ts';

export const MAX_RECOVERY_KEYS = 5;
export const MAX_ATTEMPTS = 5;
export const CHALLENGE_MS = 10 * 60_000;

/** Registers a public key with a challenge; the same key again, while it is pending, gets the new challenge. */
export const registerRecoveryKey = command(
  'register-recovery-key',
  async (
    tx,
    input: { organization: number; label: string; public: Uint8Array; challenge: Uint8Array },
    stamp,
  ): Promise<{ kind: 'pending'; id: number; expiresAt: number } | { kind: 'already-active' | 'too-many' }> => {
    const expiresAt = stamp.now + CHALLENGE_MS;
    const same = await tx.get<{ id: number; activated_at: number | null }>(
      'SELECT id, activated_at FROM recovery_key WHERE organization_id = ? AND public = ? AND revoked_at IS NULL',
      input.organization,
      input.public,
    );
    if (same?.activated_at != null) return { kind: 'already-active' };
    if (same !== undefined) {
      await tx.run(
        'UPDATE recovery_key SET label = ?, challenge = ?, challenge_expires_at = ?, attempts = 0 WHERE id = ?',
        input.label,
        input.challenge,
        expiresAt,
        same.id,
      );
      return { kind: 'pending', id: same.id, expiresAt };
    }
    const held = await tx.get<{ n: number }>(
      `SELECT count(*) AS n FROM recovery_key WHERE organization_id = ? AND revoked_at IS NULL
       AND (activated_at IS NOT NULL OR challenge_expires_at > ?)`,
      input.organization,
      stamp.now,
    );
    if ((held?.n ?? 0) >= MAX_RECOVERY_KEYS) return { kind: 'too-many' };
    const { id } = await tx.run(
      `INSERT INTO recovery_key (organization_id, label, public, challenge, challenge_expires_at, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      input.organization,
      input.label,
      input.public,
      input.challenge,
      expiresAt,
      stamp.now,
    );
    return { kind: 'pending', id, expiresAt };
  },
);

export type VerifyKeyResult =
  { kind: 'active'; at: number } | { kind: 'wrong'; attemptsLeft: number } | { kind: 'missing' | 'expired' | 'spent' };

/**
 * Verifies a pending key. `good` was computed over the challenge given here, so a challenge that was replaced meanwhile is
 * not accepted in its place.
 */
export const verifyRecoveryKey = command(
  'verify-recovery-key',
  async (
    tx,
    input: { organization: number; id: number; challenge: Uint8Array; good: boolean },
    stamp,
  ): Promise<VerifyKeyResult> => {
    const row = await tx.get<{
      challenge: Uint8Array | null;
      challenge_expires_at: number;
      attempts: number;
      activated_at: number | null;
    }>(
      `SELECT challenge, challenge_expires_at, attempts, activated_at FROM recovery_key
       WHERE id = ? AND organization_id = ? AND revoked_at IS NULL`,
      input.id,
      input.organization,
    );
    if (row === undefined || (row.activated_at === null && row.challenge === null)) return { kind: 'missing' };
    if (row.activated_at !== null) return { kind: 'active', at: row.activated_at };
    if (row.challenge_expires_at <= stamp.now) return { kind: 'expired' };
    if (row.attempts >= MAX_ATTEMPTS) return { kind: 'spent' };
    if (!input.good || row.challenge === null || !Buffer.from(row.challenge).equals(input.challenge)) {
      await tx.run('UPDATE recovery_key SET attempts = attempts + 1 WHERE id = ?', input.id);
      return { kind: 'wrong', attemptsLeft: MAX_ATTEMPTS - row.attempts - 1 };
    }
    await tx.run(
      'UPDATE recovery_key SET activated_at = ?, challenge = NULL, challenge_expires_at = NULL WHERE id = ?',
      stamp.now,
      input.id,
    );
    return { kind: 'active', at: stamp.now };
  },
);

export const revokeRecoveryKey = command(
  'revoke-recovery-key',
  async (tx, input: { organization: number; id: number }, stamp): Promise<{ kind: 'revoked' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE recovery_key SET revoked_at = ?, challenge = NULL WHERE id = ? AND organization_id = ? AND revoked_at IS NULL',
      stamp.now,
      input.id,
      input.organization,
    );
    return { kind: changes === 1 ? 'revoked' : 'missing' };
  },
);

/** Begins a recovery: stores a challenge for an active key. */
export const startRecovery = command(
  'start-recovery',
  async (
    tx,
    input: { organization: number; key: number; challenge: Uint8Array },
    stamp,
  ): Promise<{ kind: 'started'; id: number; expiresAt: number } | { kind: 'missing' }> => {
    await tx.run(
      'DELETE FROM recovery WHERE id IN (SELECT id FROM recovery WHERE expires_at < ? LIMIT 100)',
      stamp.now,
    );
    const key = await tx.get(
      `SELECT 1 AS there FROM recovery_key WHERE id = ? AND organization_id = ? AND activated_at IS NOT NULL
       AND revoked_at IS NULL`,
      input.key,
      input.organization,
    );
    if (key === undefined) return { kind: 'missing' };
    const expiresAt = stamp.now + CHALLENGE_MS;
    const { id } = await tx.run(
      'INSERT INTO recovery (recovery_key_id, challenge, created_at, expires_at) VALUES (?, ?, ?, ?)',
      input.key,
      input.challenge,
      stamp.now,
      expiresAt,
    );
    return { kind: 'started', id, expiresAt };
  },
);

export type RecoveryResult =
  | { kind: 'recovered'; organization: number; token: number; revoked: number }
  | { kind: 'wrong'; attemptsLeft: number }
  | { kind: 'missing' | 'expired' | 'spent' };

/** Completes a recovery: creates a new owner token and revokes every other token of the organization, in one commit. */
export const completeRecovery = command(
  'complete-recovery',
  async (
    tx,
    input: {
      id: number;
      challenge: Uint8Array;
      good: boolean;
      token: { hash: Uint8Array; shown: string; actions: readonly string[] };
      entry: Omit<AuditEntry, 'organization' | 'detail'>;
    },
    stamp,
  ): Promise<RecoveryResult> => {
    const audited = async (organization: number, done: RecoveryResult): Promise<RecoveryResult> => {
      await appendAudit(tx, { ...input.entry, organization, detail: {} }, done.kind, stamp);
      return done;
    };
    const row = await tx.get<{ challenge: Uint8Array; attempts: number; expires_at: number; organization_id: number }>(
      `SELECT r.challenge, r.attempts, r.expires_at, k.organization_id FROM recovery r
       JOIN recovery_key k ON k.id = r.recovery_key_id AND k.revoked_at IS NULL AND k.activated_at IS NOT NULL
       WHERE r.id = ? AND r.used_at IS NULL`,
      input.id,
    );
    if (row === undefined) return { kind: 'missing' };
    const { organization_id: organization } = row;
    if (row.expires_at <= stamp.now) return audited(organization, { kind: 'expired' });
    if (row.attempts >= MAX_ATTEMPTS) return audited(organization, { kind: 'spent' });
    if (!input.good || !Buffer.from(row.challenge).equals(input.challenge)) {
      await tx.run('UPDATE recovery SET attempts = attempts + 1 WHERE id = ?', input.id);
      return audited(organization, { kind: 'wrong', attemptsLeft: MAX_ATTEMPTS - row.attempts - 1 });
    }
    await tx.run('UPDATE recovery SET used_at = ? WHERE id = ?', stamp.now, input.id);
    const { changes: revoked } = await tx.run(
      'UPDATE token SET revoked_at = ? WHERE organization_id = ? AND revoked_at IS NULL',
      stamp.now,
      organization,
    );
    const limits = { project: null, service: null, mailboxes: null, expiresAt: null };
    const token = await insertToken(
      tx,
      {
        ...input.token,
        ...limits,
        organization,
        name: 'Recovered token',
        owner: true,
        createdBy: 'recovery',
      },
      stamp,
    );
    return audited(organization, { kind: 'recovered', organization, token, revoked });
  },
);
