import { lookup } from '../../mail/store/engine/types.ts';

export interface MailboxSetup {
  project: number;
  displayName: string | null;
}

/** Reads the project and display name of an account. */
export const mailboxSetup = lookup(
  'mailbox-setup',
  async (rx, input: { account: number }): Promise<MailboxSetup | undefined> => {
    const row = await rx.get<{ project_id: number; display_name: string | null }>(
      'SELECT project_id, display_name FROM mailbox_setup WHERE account_id = ?',
      input.account,
    );
    return row && { project: row.project_id, displayName: row.display_name };
  },
);

export const accountsInProject = lookup(
  'accounts-in-project',
  async (rx, input: { tenant: number; project: number }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT a.id FROM mailbox_setup m JOIN account a ON a.id = m.account_id
       WHERE m.project_id = ? AND a.tenant = ? AND a.state < 2`,
      input.project,
      input.tenant,
    );
    return rows.map((row) => row.id);
  },
);
