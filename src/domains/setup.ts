import { lookup } from '../../mail/store/engine/types.ts';
import { type Delegation, DELEGATIONS } from './queries.ts';

export interface DomainSetup {
  project: number;
  /** This box serves its records. */
  managed: boolean;
  /** Delegation to this box. */
  delegation: Delegation;
  /** JSON of the last check. */
  checks: string | null;
  lastCheckedAt: number | null;
  failingSince: number | null;
}

/** Appliance data of a domain, beside the engine's. */
export const domainSetup = lookup(
  'domain-setup',
  async (rx, input: { domain: number }): Promise<DomainSetup | undefined> => {
    const row = await rx.get<Omit<DomainSetup, 'managed' | 'delegation'> & { managed: number }>(
      `SELECT project_id AS project, managed, checks, last_checked_at AS "lastCheckedAt", failing_since AS "failingSince"
       FROM domain_setup WHERE domain_id = ?`,
      input.domain,
    );
    return row && { ...row, managed: row.managed !== 0, delegation: DELEGATIONS[row.managed] ?? 'none' };
  },
);
