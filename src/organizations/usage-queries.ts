import { query } from '../../mail/store/engine/types.ts';

export interface Usage {
  domains: number;
  mailboxes: number;
  messages: number;
  storedBytes: number;
  services: number;
  /** Recipients that mail waits for. */
  queued: number;
}

/** What one organization has. */
export const organizationUse = query(
  'organization-use',
  async (rx, input: { organization: number }): Promise<Usage> => {
    const row = await rx.get<Record<keyof Usage, number>>(
      `SELECT (SELECT count(*) FROM domain WHERE tenant = ?1) AS domains, count(*) AS mailboxes,
         coalesce(sum(used_count), 0) AS messages, coalesce(sum(used_bytes), 0) AS storedBytes,
         (SELECT count(*) FROM service WHERE organization_id = ?1) AS services,
         (SELECT count(*) FROM queue q JOIN submission s ON s.id = q.submission_id WHERE s.tenant = ?1) AS queued
       FROM account WHERE tenant = ?1 AND state <> 2`,
      input.organization,
    );
    return row ?? { domains: 0, mailboxes: 0, messages: 0, storedBytes: 0, services: 0, queued: 0 };
  },
);
