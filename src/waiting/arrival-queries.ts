import { query } from '../../mail/store/engine/types.ts';

/** Rows of one account lie together: mail/store/message.ts. */
const ACCOUNT_SPAN = 2 ** 32;

/** The row of a message by its number in the account, and back. */
export const rowOf = (account: number, number: number): number => account * ACCOUNT_SPAN + number;
export const numberOf = (row: number): number => row % ACCOUNT_SPAN;

/** A message that was delivered, and not only put here. */
export interface Arrived extends Record<string, number> {
  id: number;
  /** 1: it is in Junk and nowhere else. */
  junk: 0 | 1;
}

/**
 * Messages that were delivered behind a row, in the order in which they came; not those in trash, and not refused ones.
 * What a mail program stores has no lines of a delivery.
 */
export const arrivalsBehind = query(
  'arrivals-behind',
  (rx, { account, row, limit }: { account: number; row: number; limit: number }): Promise<Arrived[]> =>
    rx.all<Arrived>(
      `SELECT e.id, min(coalesce(m.role, '') = 'junk') AS junk FROM email e
         CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.id CROSS JOIN mailbox m ON m.id = n.mailbox_id
       WHERE e.id > ?1 AND e.id < ?2 AND e.trace <> '' AND n.flags & 16 = 0 AND m.gone_at IS NULL
         AND coalesce(m.role, '') NOT IN ('trash', 'drafts')
         AND m.id NOT IN (SELECT mailbox_id FROM rejects_mailbox WHERE account_id = ?3)
       GROUP BY e.id ORDER BY e.id LIMIT ?4 + 0`,
      row,
      rowOf(account + 1, 0),
      account,
      limit,
    ),
);

/** The number of the last message that an account was given; undefined: it is gone. */
export const newestNumber = query(
  'newest-number',
  async (rx, { account }: { account: number }): Promise<number | undefined> =>
    (await rx.get<{ email_seq: number }>('SELECT email_seq FROM account WHERE id = ? AND state <> 2', account))
      ?.email_seq,
);

/** How many of the last messages are looked at for their time. */
const LOOKED_BACK = 200;

/** The number behind which messages came at or after a moment, ms UTC; of the last {@link LOOKED_BACK}. */
export const numberBefore = query(
  'number-before',
  async (rx, { account, at }: { account: number; at: number }): Promise<number | undefined> => {
    const row = await rx.get<{ first: number | null }>(
      `SELECT min(id) AS first FROM (SELECT id, received_at FROM email WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3 + 0)
       WHERE received_at >= ?4`,
      rowOf(account, 0),
      rowOf(account + 1, 0),
      LOOKED_BACK,
      at,
    );
    return row?.first == null ? undefined : numberOf(row.first) - 1;
  },
);
