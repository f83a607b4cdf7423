import { query } from '../../mail/store/engine/types.ts';

/** The message that came last to an account. */
export const newestEmail = query(
  'newest-email',
  async (rx, input: { account: number }): Promise<number | undefined> => {
    const row = await rx.get<{ id: number }>(
      `SELECT e.id FROM email e WHERE e.account_id = ? AND EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id)
       ORDER BY e.id DESC LIMIT 1`,
      input.account,
    );
    return row?.id;
  },
);
