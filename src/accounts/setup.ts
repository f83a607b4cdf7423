import { query } from '../../mail/store/engine/types.ts';
import { type Delegation, DELEGATIONS } from '../domains/queries.ts';

export interface MailboxSetup {
  project: number;
  displayName: string | null;
}

/** What the appliance knows of an account beside the engine. */
export const mailboxSetup = query(
  'mailbox-setup',
  async (rx, input: { account: number }): Promise<MailboxSetup | undefined> => {
    const row = await rx.get<{ project_id: number; display_name: string | null }>(
      'SELECT project_id, display_name FROM mailbox_setup WHERE account_id = ?',
      input.account,
    );
    return row && { project: row.project_id, displayName: row.display_name };
  },
);

export interface DomainSetup {
  project: number;
  /** Whether this box serves its records. */
  managed: boolean;
  /** By which of the box's names it does. */
  delegation: Delegation;
  /** JSON of the last check. */
  checks: string | null;
  lastCheckedAt: number | null;
  failingSince: number | null;
}

/** What the appliance knows of a domain beside the engine. */
export const domainSetup = query(
  'domain-setup',
  async (rx, input: { domain: number }): Promise<DomainSetup | undefined> => {
    const row = await rx.get<{
      project_id: number;
      managed: number;
      checks: string | null;
      last_checked_at: number | null;
      failing_since: number | null;
    }>(
      'SELECT project_id, managed, checks, last_checked_at, failing_since FROM domain_setup WHERE domain_id = ?',
      input.domain,
    );
    return (
      row && {
        project: row.project_id,
        managed: row.managed !== 0,
        delegation: DELEGATIONS[row.managed] ?? 'none',
        checks: row.checks,
        lastCheckedAt: row.last_checked_at,
        failingSince: row.failing_since,
      }
    );
  },
);

export const accountsInProject = query(
  'accounts-in-project',
  async (rx, input: { tenant: number; project: number }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT a.id FROM mailbox_setup m JOIN account a ON a.id = m.account_id
       WHERE m.project_id = ? AND a.tenant = ? AND a.state <> 2`,
      input.project,
      input.tenant,
    );
    return rows.map((row) => row.id);
  },
);
