import { command, lookup } from '../engine/types.ts';

/** Records that sessions were notified of all messages below a UID. Changes no mod-sequence: \Recent is no stored flag. */
export const keepRecent = command(
  'keep-recent',
  async (tx, { mailbox, uid }: { mailbox: number; uid: number }): Promise<void> => {
    await tx.run('UPDATE mailbox SET recent_from = ? WHERE id = ? AND recent_from < ?', uid, mailbox, uid);
  },
);

/** Messages of a mailbox that no session was notified of; `from`: first UID of which none was, if that is known. */
export const countRecent = lookup(
  'count-recent',
  async (rx, { account, mailbox, from }: { account: number; mailbox: number; from: number }): Promise<number> => {
    const row = await rx.get<{ count: number }>(
      `SELECT count(*) AS count FROM mailbox m JOIN entry n ON n.mailbox_id = m.id AND n.uid >= max(m.recent_from, ?)
       WHERE m.id = ? AND m.account_id = ?`,
      from,
      mailbox,
      account,
    );
    return row?.count ?? 0;
  },
);
