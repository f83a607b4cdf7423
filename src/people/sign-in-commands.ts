import { OPERATOR } from '../../mail/store/account.ts';
import { command } from '../../mail/store/engine/types.ts';
import { insertLink } from './commands.ts';

const DAY = 86_400_000;

/**
 * A new sign-in link for a member of the operator's organization; `key` is the address as it is compared, null means
 * the first owner. Of one person only the newest link opens anything.
 */
export const addSignInLink = command(
  'add-sign-in-link',
  async (
    tx,
    input: { key: string | null; hash: Uint8Array },
    stamp,
  ): Promise<{ kind: 'added'; email: string; expiresAt: number } | { kind: 'nobody' }> => {
    const person = await tx.get<{ id: number; email: string }>(
      `SELECT u.id, u.email FROM member m JOIN user u ON u.id = m.user_id
       WHERE m.organization_id = ? AND (u.email_key = ? OR (? IS NULL AND m.role = 'owner'))
       ORDER BY u.password IS NULL, u.id LIMIT 1`,
      OPERATOR,
      input.key,
      input.key,
    );
    if (person === undefined) return { kind: 'nobody' };
    const { id: user, email } = person;
    await tx.run(`DELETE FROM link WHERE purpose = 'sign-in' AND user_id = ? AND used_at IS NULL`, user);
    const expiresAt = stamp.now + DAY;
    const link = { purpose: 'sign-in' as const, organization: null, user, email: null, role: null, mailed: false };
    await insertLink(tx, { ...link, hash: input.hash, expiresAt }, stamp);
    return { kind: 'added', email, expiresAt };
  },
);
