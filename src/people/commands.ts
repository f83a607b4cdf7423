import type { Stamp, Write } from '../../mail/store/engine/types.ts';

export type LinkPurpose = 'claim' | 'invite' | 'prove' | 'reset' | 'sign-in';

export interface NewLink {
  purpose: LinkPurpose;
  /** SHA-256 of what the URL carries. */
  hash: Uint8Array;
  organization: number | null;
  user: number | null;
  email: string | null;
  role: string | null;
  /** It goes to the address, so opening it proves the address. */
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

/** A person who has never set a password here; any number of them may name one address. */
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
