import { lookup } from '../engine/types.ts';

/**
 * Mailboxes of messages before they were moved to the trash, as far as these still exist. Moves older than 30 days are
 * unknown: `purge-expunged`.
 */
export const formerMailboxes = lookup(
  'former-mailboxes',
  async (
    rx,
    { account, emails }: { account: number; emails: readonly number[] },
  ): Promise<Map<number, { at: number; mailboxes: number[] }>> => {
    const rows = await rx.all<{ email: number; mailbox: number; at: number }>(
      `SELECT x.email_id AS email, x.mailbox_id AS mailbox, x.at FROM json_each(?) j
       CROSS JOIN expunged x INDEXED BY expunged_email ON x.email_id = j.value
       CROSS JOIN mailbox m ON m.id = x.mailbox_id
       WHERE m.account_id = ? AND m.deleted_at IS NULL AND m.role IS NOT 'trash' ORDER BY x.at DESC, x.mailbox_id`,
      JSON.stringify(emails),
      account,
    );
    const found = new Map<number, { at: number; mailboxes: number[] }>();
    for (const { email, mailbox, at } of rows) {
      const last = found.get(email);
      if (last === undefined) found.set(email, { at, mailboxes: [mailbox] });
      // Entries with the same time were removed together.
      else if (last.at === at && !last.mailboxes.includes(mailbox)) last.mailboxes.push(mailbox);
    }
    return found;
  },
);
