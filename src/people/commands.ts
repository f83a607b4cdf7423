import { type Stamp, type Write, command, type Read } from '../../mail/store/engine/types.ts';

export type LinkPurpose = 'claim' | 'invite' | 'prove' | 'reset' | 'sign-in';

export interface NewLink {
  purpose: LinkPurpose;
  /** SHA-256 of the secret in the URL. */
  hash: Uint8Array;
  organization: number | null;
  user: number | null;
  email: string | null;
  role: string | null;
  /** Sent to the address by mail, so that opening it verifies the address. */
  mailed: boolean;
  /** ms UTC. */
  expiresAt: number;
}

export async function insertLink(tx: Write, link: NewLink, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO link (purpose, token_hash, organization_id, user_id, email, role, mailed, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    link.purpose,
    link.hash,
    link.organization,
    link.user,
    link.email,
    link.role,
    Number(link.mailed),
    stamp.now,
    link.expiresAt,
  );
  return id;
}

/** Adds a person without a password; several may have the same address. */
export async function insertPendingUser(
  tx: Write,
  { email, key, displayName }: { email: string; key: string; displayName: string | null },
  stamp: Stamp,
): Promise<number> {
  const { id } = await tx.run(
    'INSERT INTO user (email, email_key, display_name, created_at) VALUES (?, ?, ?, ?)',
    email,
    key,
    displayName,
    stamp.now,
  );
  return id;
}

export async function insertMember(
  tx: Write,
  member: { organization: number; user: number; role: 'owner' | 'admin' | 'member' },
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO member (organization_id, user_id, role, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (organization_id, user_id) DO NOTHING`,
    member.organization,
    member.user,
    member.role,
    stamp.now,
  );
}

const DAY = 86_400_000;
const CLAIM_DAYS = 14;

/**
 * Local mode, at each start: creates the owner of the operator's organization and a link that signs them in once. Links of
 * earlier starts are deleted.
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
  // The mailbox is local and belongs to the owner.
  await tx.run('UPDATE user SET address_verified_at = ? WHERE id = ?', stamp.now, user);
  await insertMember(tx, { organization, user, role: 'owner' }, stamp);
  await tx.run('UPDATE organization SET claimed_at = coalesce(claimed_at, ?) WHERE id = ?', stamp.now, organization);
  return user;
}

/** Live mode, at each start until the box has an owner: creates a link that claims the operator's organization. */
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

/** Reason why a link cannot be used: unknown (or of another purpose), used, or expired. */
export type DeadLink = 'missing' | 'used' | 'expired';

export interface AccountLink {
  id: number;
  organization: number | null;
  user: number | null;
  email: string | null;
  role: string | null;
  mailed: boolean;
}

/** Finds the link of a purpose that a URL carries, or the reason why it cannot be used. */
export async function findLink(
  rx: Read,
  { purpose, hash }: { purpose: LinkPurpose; hash: Uint8Array },
  now: number,
): Promise<AccountLink | DeadLink> {
  const row = await rx.get<{
    id: number;
    organization_id: number | null;
    user_id: number | null;
    email: string | null;
    role: string | null;
    mailed: number;
    expires_at: number;
    used_at: number | null;
  }>('SELECT * FROM link WHERE token_hash = ? AND purpose = ?', hash, purpose);
  if (row === undefined) return 'missing';
  if (row.used_at !== null) return 'used';
  if (row.expires_at <= now) return 'expired';
  const { id, organization_id: organization, user_id: user, email, role } = row;
  return { id, organization, user, email, role, mailed: row.mailed === 1 };
}

/** Account of an address: the one person with that address who has a password. */
export async function findPasswordUser(rx: Read, key: string): Promise<{ user: number; password: string } | undefined> {
  const row = await rx.get<{ id: number; password: string }>(
    'SELECT id, password FROM user WHERE email_key = ? AND password IS NOT NULL',
    key,
  );
  return row && { user: row.id, password: row.password };
}

/** A person's address, as compared. */
export async function keyOf(rx: Read, user: number): Promise<string | undefined> {
  return (await rx.get<{ email_key: string }>('SELECT email_key FROM user WHERE id = ?', user))?.email_key;
}
