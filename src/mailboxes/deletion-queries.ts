import { query } from '../../mail/store/engine/types.ts';

/** Number of deleted mailboxes and services of the whole server that can be restored. */
export const countDeleted = query('count-deleted', async (rx): Promise<{ mailboxes: number; services: number }> => {
  const row = await rx.get<{ mailboxes: number; services: number }>(
    `SELECT (SELECT count(*) FROM deleted_account) AS mailboxes, (SELECT count(*) FROM deleted_service) AS services`,
  );
  return row ?? { mailboxes: 0, services: 0 };
});
