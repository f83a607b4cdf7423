import { command } from '../../mail/store/engine/types.ts';

export const STS_MODES = ['none', 'testing', 'enforce'] as const;
export type StsMode = (typeof STS_MODES)[number];

/** Sets the mode of a domain's MTA-STS policy. Returns the time of the change, an older one if it had the mode before. */
export const setStsMode = command(
  'set-sts-mode',
  async (tx, input: { domain: number; mode: StsMode }, stamp): Promise<{ changedAt: number }> => {
    await tx.run(
      `INSERT INTO own_sts_policy (domain_id, mode, changed_at)
       SELECT id, ?, ? FROM domain WHERE id = ?
       ON CONFLICT (domain_id) DO UPDATE SET mode = excluded.mode, changed_at = excluded.changed_at
       WHERE own_sts_policy.mode <> excluded.mode`,
      input.mode,
      stamp.now,
      input.domain,
    );
    const row = await tx.get<{ changedAt: number }>(
      'SELECT changed_at AS "changedAt" FROM own_sts_policy WHERE domain_id = ?',
      input.domain,
    );
    return { changedAt: row?.changedAt ?? stamp.now };
  },
);
