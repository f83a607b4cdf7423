import type { Write } from '../engine/types.ts';

/** Removes all grants of a mailbox that is deleted, and wakes the sessions that use it. */
export async function revokeGrants(tx: Write, mailbox: number): Promise<void> {
  const rows = await tx.all<{ account: number }>(
    'DELETE FROM mailbox_acl WHERE mailbox_id = ? RETURNING account_id AS account',
    mailbox,
  );
  for (const { account } of rows) tx.touched(account);
}
