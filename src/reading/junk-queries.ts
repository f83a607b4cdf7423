import { query } from '../../mail/store/engine/types.ts';
import { DELETED } from '../../mail/store/mailbox/flags.ts';

/** A message in the junk folder of a mailbox. */
export interface JunkRow {
  account: number;
  /** Address of the mailbox. */
  address: string;
  email: number;
  /** ms UTC. */
  receivedAt: number;
}

/** Junk folders that are read: one statement each. */
const MAX_FOLDERS = 1_000;

/**
 * The newest junk of an organization, of the mailboxes in `accounts` (null: all), older than `before`. Reads `limit` rows of the
 * index of each folder that has messages.
 */
export const newestJunk = query(
  'newest-junk',
  async (
    rx,
    input: {
      tenant: number;
      accounts: readonly number[] | null;
      before: Pick<JunkRow, 'receivedAt' | 'email'> | undefined;
      limit: number;
    },
  ): Promise<JunkRow[]> => {
    const folders = await rx.all<{ mailbox: number; account: number; address: string }>(
      `SELECT m.id AS mailbox, a.id AS account, a.address FROM account a JOIN mailbox m ON m.account_id = a.id
       WHERE a.tenant = ?1 AND a.state = 1 AND m.role = 'junk' AND m.deleted_at IS NULL AND m.j_total > 0
         AND (?2 IS NULL OR a.id IN (SELECT value FROM json_each(?2))) ORDER BY a.id LIMIT ?3`,
      input.tenant,
      input.accounts === null ? null : JSON.stringify(input.accounts),
      MAX_FOLDERS,
    );
    const { receivedAt, email } = input.before ?? { receivedAt: Number.MAX_SAFE_INTEGER, email: 0 };
    const found = await Promise.all(
      folders.map(async ({ mailbox, account, address }) => {
        const rows = await rx.all<{ email: number; receivedAt: number }>(
          `SELECT email_id AS email, received_at AS "receivedAt" FROM entry
           WHERE mailbox_id = ?1 AND received_at <= ?2 AND (received_at < ?2 OR email_id < ?3) AND flags & ?4 = 0
           ORDER BY received_at DESC, email_id DESC LIMIT ?5`,
          mailbox,
          receivedAt,
          email,
          DELETED,
          input.limit,
        );
        return rows.map((row) => ({ ...row, account, address }));
      }),
    );
    const newest = found.flat().toSorted((a, b) => b.receivedAt - a.receivedAt || b.email - a.email);
    return newest.slice(0, input.limit);
  },
);
