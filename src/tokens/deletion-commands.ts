import type { Stamp, Write } from '../../mail/store/engine/types.ts';
import { revokeTokens } from './commands.ts';

/**
 * Ends the access of limited tokens to a deleted mailbox: tokens of this mailbox alone are revoked, others lose it from
 * their list, so that restoring it gives it back to none. Returns the number of revoked tokens.
 */
export async function endMailboxTokens(
  tx: Write,
  { organization, account }: { organization: number; account: number },
  stamp: Stamp,
): Promise<number> {
  await tx.run(
    `DELETE FROM oauth_code WHERE organization_id = ?1 AND EXISTS (SELECT 1 FROM json_each(mailboxes) WHERE value = ?2)`,
    organization,
    account,
  );
  const limited = await tx.all<{ id: number; mailboxes: string }>(
    `SELECT id, mailboxes FROM token WHERE organization_id = ?1 AND revoked_at IS NULL AND mailboxes IS NOT NULL
       AND EXISTS (SELECT 1 FROM json_each(mailboxes) WHERE value = ?2)`,
    organization,
    account,
  );
  let revoked = 0;
  for (const { id, mailboxes } of limited) {
    const others = (JSON.parse(mailboxes) as number[]).filter((one) => one !== account);
    if (others.length > 0) await tx.run('UPDATE token SET mailboxes = ? WHERE id = ?', JSON.stringify(others), id);
    else {
      await revokeTokens(tx, id, stamp);
      revoked++;
    }
  }
  return revoked;
}

/** Revokes the tokens of a deleted service. Returns their number. */
export async function endServiceTokens(
  tx: Write,
  { organization, service }: { organization: number; service: number },
  stamp: Stamp,
): Promise<number> {
  const limited = await tx.all<{ id: number }>(
    'SELECT id FROM token WHERE organization_id = ? AND service_id = ? AND revoked_at IS NULL',
    organization,
    service,
  );
  for (const { id } of limited) await revokeTokens(tx, id, stamp);
  return limited.length;
}
