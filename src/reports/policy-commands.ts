import { command } from '../../mail/store/engine/types.ts';

/** Sets the DMARC policy that the record of a domain is to publish. */
export const setDmarcPolicy = command(
  'set-dmarc-policy',
  async (tx, input: { domain: number; policy: 'none' | 'quarantine' | 'reject' }, stamp): Promise<void> => {
    await tx.run(
      `INSERT INTO own_dmarc_policy (domain_id, policy, changed_at) SELECT id, ?, ? FROM domain WHERE id = ?
       ON CONFLICT (domain_id) DO UPDATE SET policy = excluded.policy, changed_at = excluded.changed_at`,
      input.policy,
      stamp.now,
      input.domain,
    );
  },
);

/** Turns the automatic change of a domain's MTA-STS policy from testing to enforce on or off. */
export const setStsWalk = command(
  'set-sts-walk',
  async (tx, { domain, on }: { domain: number; on: boolean }, stamp): Promise<void> => {
    if (on) await tx.run('DELETE FROM sts_walk_off WHERE domain_id = ?', domain);
    else {
      await tx.run(
        'INSERT INTO sts_walk_off (domain_id, since) SELECT id, ? FROM domain WHERE id = ? ON CONFLICT DO NOTHING',
        stamp.now,
        domain,
      );
    }
  },
);
