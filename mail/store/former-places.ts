import { query } from './engine/types.ts';

/**
 * Where messages stood before they came into the trash, whoever put them there: their last places elsewhere that are
 * still there. Nothing is known of what came there more than 30 days ago: `forget-expunged`.
 */
export const formerPlaces = query(
  'former-places',
  async (
    rx,
    { account, emails }: { account: number; emails: readonly number[] },
  ): Promise<Map<number, { at: number; mailboxes: number[] }>> => {
    const rows = await rx.all<{ email: number; mailbox: number; at: number }>(
      `SELECT x.email_id AS email, x.mailbox_id AS mailbox, x.at FROM json_each(?) j
       CROSS JOIN expunged x INDEXED BY expunged_email ON x.email_id = j.value
       CROSS JOIN mailbox m ON m.id = x.mailbox_id
       WHERE m.account_id = ? AND m.gone_at IS NULL AND m.role IS NOT 'trash' ORDER BY x.at DESC, x.mailbox_id`,
      JSON.stringify(emails),
      account,
    );
    const found = new Map<number, { at: number; mailboxes: number[] }>();
    for (const { email, mailbox, at } of rows) {
      const last = found.get(email);
      if (last === undefined) found.set(email, { at, mailboxes: [mailbox] });
      // What left at the same moment left together.
      else if (last.at === at && !last.mailboxes.includes(mailbox)) last.mailboxes.push(mailbox);
    }
    return found;
  },
);
