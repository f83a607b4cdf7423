import type { Read } from '../../mail/store/engine/types.ts';
import type { LinkPurpose } from './commands.ts';

/** Why a link opens nothing: never given out (or for something else), used, or too old. */
export type DeadLink = 'missing' | 'used' | 'expired';

export interface Link {
  id: number;
  organization: number | null;
  user: number | null;
  email: string | null;
  role: string | null;
  mailed: boolean;
}

/** The link of a purpose that a URL carries, or why it opens nothing. A link of another purpose does not exist here. */
export async function linkOf(
  rx: Read,
  { purpose, hash }: { purpose: LinkPurpose; hash: Uint8Array },
  now: number,
): Promise<Link | DeadLink> {
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

/** Who signs in with an address: the one person of it that has a password. */
export async function accountOf(rx: Read, key: string): Promise<{ user: number; password: string } | undefined> {
  const row = await rx.get<{ id: number; password: string }>(
    'SELECT id, password FROM user WHERE email_key = ? AND password IS NOT NULL',
    key,
  );
  return row && { user: row.id, password: row.password };
}

/** The address under which a person is compared. */
export async function keyOf(rx: Read, user: number): Promise<string | undefined> {
  return (await rx.get<{ email_key: string }>('SELECT email_key FROM user WHERE id = ?', user))?.email_key;
}
