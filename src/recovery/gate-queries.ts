import { lookup, query, type Read } from '../../mail/store/engine/types.ts';

/** Recovery requirement for deployments of an organization. */
export interface DeployGate {
  open: boolean;
  claimed: boolean;
  /** Fact that satisfies the requirement. */
  recovery: 'claim_email' | 'recovery_key' | null;
  /** Ids of unmet requirements. */
  blockers: string[];
}

export const deployGateOf = lookup('gate-of', async (rx, input: { organization: number }): Promise<DeployGate> => {
  const row = await rx.get<{ claimed_at: number | null; origin: string; keys: number }>(
    `SELECT claimed_at, origin, (SELECT count(*) FROM recovery_key WHERE organization_id = o.id
       AND activated_at IS NOT NULL AND revoked_at IS NULL) AS keys FROM organization o WHERE o.id = ?`,
    input.organization,
  );
  const claimed = row !== undefined && (row.claimed_at !== null || row.origin === 'operator');
  const recovery = claimed ? 'claim_email' : (row?.keys ?? 0) > 0 ? 'recovery_key' : null;
  return { open: recovery !== null, claimed, recovery, blockers: recovery === null ? ['recovery'] : [] };
});

export type RecoveryKey = {
  id: number;
  label: string;
  status: 'pending' | 'active' | 'revoked' | 'expired';
  createdAt: number;
  activatedAt: number | null;
};

/** Keys of an organization; pending ones are expired after `now`. */
export const listRecoveryKeys = lookup(
  'list-recovery-keys',
  async (rx, input: { organization: number; now: number }): Promise<RecoveryKey[]> => {
    return rx.all<RecoveryKey>(
      `SELECT id, label, created_at AS "createdAt", activated_at AS "activatedAt",
         CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN activated_at IS NOT NULL THEN 'active'
           WHEN challenge_expires_at > ? THEN 'pending' ELSE 'expired' END AS status
       FROM recovery_key WHERE organization_id = ? ORDER BY id`,
      input.now,
      input.organization,
    );
  },
);

/** Challenge of a pending key; undefined if there is none. */
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

/** A recovery in progress, with the key that must sign. */
export const openRecovery = lookup(
  'open-recovery',
  (rx, input: { id: number }): Promise<{ public: Uint8Array; challenge: Uint8Array } | undefined> =>
    rx.get(
      `SELECT k.public, r.challenge FROM recovery r JOIN recovery_key k ON k.id = r.recovery_key_id
       WHERE r.id = ? AND r.used_at IS NULL`,
      input.id,
    ),
);
