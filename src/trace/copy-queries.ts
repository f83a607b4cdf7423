import { mailboxPath } from '../../mail/store/mailbox/mailbox.ts';
import { query } from '../../mail/store/engine/types.ts';

/** The time that a copy of a message was in one folder. */
export interface FolderStay {
  email: number;
  account: number;
  address: string;
  folder: string;
  /** junk, trash, ...; null: none. */
  role: string | null;
  /** As in `entry.flags`. */
  flags: number;
  /** Time of arrival in the folder, ms UTC; null: not stored. */
  since: number | null;
  /** Time at which it left the folder, ms UTC; null: it is there. */
  until: number | null;
}

const MAX_STAYS = 100;

/** Folders that copies of a message are in and were in; folders that it left are known for as long as deleted messages are kept. */
export const folderStays = query(
  'folder-stays',
  async (rx, input: { tenant: number; emails: readonly number[] }): Promise<FolderStay[]> => {
    const rows = await rx.all<Omit<FolderStay, 'folder'> & { mailbox: number }>(
      `WITH wanted AS (SELECT value AS email FROM json_each(?1)),
         stay AS (
           SELECT n.email_id AS email, n.mailbox_id AS mailbox, n.flags, n.save_at AS since, NULL AS until
             FROM wanted w JOIN entry n ON n.email_id = w.email
           UNION ALL SELECT x.email_id, x.mailbox_id, x.flags, NULL, x.at
             FROM wanted w JOIN expunged x ON x.email_id = w.email)
       SELECT s.email, s.mailbox, s.flags, s.since, s.until, a.id AS account, a.address, m.role
       FROM stay s JOIN mailbox m ON m.id = s.mailbox JOIN account a ON a.id = m.account_id AND a.tenant = ?2
       ORDER BY coalesce(s.until, s.since) LIMIT ${MAX_STAYS}`,
      JSON.stringify(input.emails),
      input.tenant,
    );
    return Promise.all(rows.map(async ({ mailbox, ...stay }) => ({ ...stay, folder: await mailboxPath(rx, mailbox) })));
  },
);
