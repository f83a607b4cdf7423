import { query, type Read } from '../../mail/store/engine/types.ts';

/** Whether an organization may deploy, as far as recovery goes. */
export interface Gate {
  open: boolean;
  claimed: boolean;
  /** What satisfies the recovery requirement. */
  recovery: 'claim_email' | 'recovery_key' | null;
  /** Ids of what is missing. */
  blockers: string[];
}

export const gateOf = query('gate-of', async (rx, input: { organization: number }): Promise<Gate> => {
  const row = await rx.get<{ claimed_at: number | null; origin: string; keys: number }>(
    `SELECT claimed_at, origin, (SELECT count(*) FROM recovery_key WHERE organization_id = o.id
       AND activated_at IS NOT NULL AND revoked_at IS NULL) AS keys FROM organization o WHERE o.id = ?`,
    input.organization,
  );
  const claimed = row !== undefined && (row.claimed_at !== null || row.origin === 'operator');
  const recovery = claimed ? 'claim_email' : (row?.keys ?? 0) > 0 ? 'recovery_key' : null;
  return { open: recovery !== null, claimed, recovery, blockers: recovery === null ? ['recovery'] : [] };
});

export interface RecoveryKey {
  id: number;
  label: string;
  status: 'pending' | 'active' | 'revoked' | 'expired';
  createdAt: number;
  activatedAt: number | null;
}

/** The keys of an organization; `now` tells which pending ones are too late. */
export const listRecoveryKeys = query(
  'list-recovery-keys',
  async (rx, input: { organization: number; now: number }): Promise<RecoveryKey[]> => {
    const rows = await rx.all<{
      id: number;
      label: string;
      challenge_expires_at: number | null;
      created_at: number;
      activated_at: number | null;
      revoked_at: number | null;
    }>(
      `SELECT id, label, challenge_expires_at, created_at, activated_at, revoked_at FROM recovery_key
       WHERE organization_id = ? ORDER BY id`,
      input.organization,
    );
    return rows.map((row) => ({
      id: row.id,
      label: row.label,
      status:
        row.revoked_at !== null
          ? 'revoked'
          : row.activated_at !== null
            ? 'active'
            : (row.challenge_expires_at ?? 0) > input.now
              ? 'pending'
              : 'expired',
      createdAt: row.created_at,
      activatedAt: row.activated_at,
    }));
  },
);

/** What a challenge was given out for, or undefined when there is no such pending key. */
export const pendingKey = query(
  'pending-key',
  (rx, input: { organization: number; id: number }): Promise<Challenge | undefined> =>
    readChallenge(rx, input.organization, input.id),
);

export interface Challenge extends Record<string, number | Uint8Array | null> {
  public: Uint8Array;
  challenge: Uint8Array | null;
  challenge_expires_at: number | null;
  attempts: number;
  activated_at: number | null;
}

function readChallenge(rx: Read, organization: number, id: number): Promise<Challenge | undefined> {
  return rx.get<Challenge>(
    `SELECT public, challenge, challenge_expires_at, attempts, activated_at FROM recovery_key
     WHERE id = ? AND organization_id = ? AND revoked_at IS NULL`,
    id,
    organization,
  );
}

/** A recovery that was begun, with the key that must sign. */
export const openRecovery = query(
  'open-recovery',
  (rx, input: { id: number }): Promise<{ public: Uint8Array; challenge: Uint8Array } | undefined> =>
    rx.get(
      `SELECT k.public, r.challenge FROM recovery r JOIN recovery_key k ON k.id = r.recovery_key_id
       WHERE r.id = ? AND r.used_at IS NULL`,
      input.id,
    ),
);
