import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { insertLink, insertMember, insertPendingUser } from './commands.ts';

const DAY = 86_400_000;
const CLAIM_DAYS = 14;

/**
 * Local mode, at each start: the operator's organization has an owner, and a link signs them in once. The links of
 * earlier starts open nothing any more.
 */
export const seedLocalOwner = command(
  'seed-local-owner',
  async (tx, input: { organization: number; email: string; hash: Uint8Array }, stamp): Promise<void> => {
    const user = await localOwner(tx, input, stamp);
    await tx.run(`DELETE FROM link WHERE purpose = 'sign-in' AND user_id = ? AND used_at IS NULL`, user);
    const link = { purpose: 'sign-in' as const, organization: null, user, email: null, role: null, mailed: false };
    await insertLink(tx, { ...link, hash: input.hash, expiresAt: stamp.now + DAY }, stamp);
  },
);

async function localOwner(
  tx: Write,
  { organization, email }: { organization: number; email: string },
  stamp: Stamp,
): Promise<number> {
  const there = await tx.get<{ user_id: number }>(
    `SELECT m.user_id FROM member m JOIN user u ON u.id = m.user_id
     WHERE m.organization_id = ? AND m.role = 'owner' AND u.email_key = ?`,
    organization,
    email,
  );
  if (there !== undefined) return there.user_id;
  const user = await insertPendingUser(tx, { email, key: email, displayName: null }, stamp);
  // The mailbox is here, and theirs.
  await tx.run('UPDATE user SET address_proven_at = ? WHERE id = ?', stamp.now, user);
  await insertMember(tx, { organization, user, role: 'owner' }, stamp);
  await tx.run('UPDATE organization SET claimed_at = coalesce(claimed_at, ?) WHERE id = ?', stamp.now, organization);
  return user;
}

/** Live mode, at each start until somebody owns the box: a link that claims the operator's organization. */
export const offerOperatorClaim = command(
  'offer-operator-claim',
  async (tx, input: { organization: number; hash: Uint8Array }, stamp): Promise<{ kind: 'offered' | 'claimed' }> => {
    const row = await tx.get<{ claimed_at: number | null }>(
      'SELECT claimed_at FROM organization WHERE id = ?',
      input.organization,
    );
    if (row?.claimed_at !== null) return { kind: 'claimed' };
    const { organization, hash } = input;
    await tx.run(`DELETE FROM link WHERE purpose = 'claim' AND organization_id = ? AND used_at IS NULL`, organization);
    const link = { purpose: 'claim' as const, organization, user: null, email: null, role: null, mailed: false };
    await insertLink(tx, { ...link, hash, expiresAt: stamp.now + CLAIM_DAYS * DAY }, stamp);
    return { kind: 'offered' };
  },
);
