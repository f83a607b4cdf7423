import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import {
  insertMember,
  insertPendingUser,
  findPasswordUser,
  type DeadLink,
  type AccountLink,
  findLink,
} from './commands.ts';

export type InviteRefusal = DeadLink | 'frozen';

export interface InviteFacts {
  kind: 'invite';
  organization: { id: number; name: string; slug: string };
  email: string;
  role: string;
}

/** Proof of the invited person: a first password, or the sign-in of the address. */
export type JoinedBy =
  | { kind: 'new'; password: string; displayName: string | null }
  | { kind: 'account'; user: number; password: string | null };

interface OpenedInvite {
  link: AccountLink & { email: string; role: 'owner' | 'admin' | 'member' };
  organization: { id: number; name: string; slug: string };
}

/** Previews an invitation. */
export const inviteFacts = query(
  'invite-facts',
  async (rx, input: { hash: Uint8Array; now: number }): Promise<InviteFacts | { kind: InviteRefusal }> => {
    const found = await openInvite(rx, input.hash, input.now);
    if ('refused' in found) return { kind: found.refused };
    const { link, organization } = found;
    return { kind: 'invite', organization, email: link.email, role: link.role };
  },
);

async function openInvite(rx: Read, hash: Uint8Array, now: number): Promise<OpenedInvite | { refused: InviteRefusal }> {
  const link = await findLink(rx, { purpose: 'invite', hash }, now);
  if (typeof link === 'string') return { refused: link };
  const organization = await rx.get<{ id: number; name: string; slug: string; frozen_at: number | null }>(
    'SELECT id, name, slug, frozen_at FROM organization WHERE id = ?',
    link.organization,
  );
  const { email, role } = link;
  if (organization === undefined || email === null || role === null) return { refused: 'missing' };
  if (organization.frozen_at !== null) return { refused: 'frozen' };
  const { id, name, slug } = organization;
  return { link: { ...link, email, role: role as OpenedInvite['link']['role'] }, organization: { id, name, slug } };
}

export type JoinResult = { kind: 'joined'; organization: number; user: number } | { kind: 'sign-in' | InviteRefusal };

/** Accepts an invitation, once. It was mailed, so opening it and signing in verifies the address. */
export const joinOrganization = command(
  'join-organization',
  async (tx, input: { hash: Uint8Array; key: string; by: JoinedBy; ip: string }, stamp): Promise<JoinResult> => {
    const found = await openInvite(tx, input.hash, stamp.now);
    if ('refused' in found) return { kind: found.refused };
    const { link, organization } = found;
    const user = await personOf(tx, link.email, input, stamp);
    if (user === undefined) return { kind: 'sign-in' };
    await insertMember(tx, { organization: organization.id, user, role: link.role }, stamp);
    await tx.run(
      'UPDATE user SET address_verified_at = coalesce(address_verified_at, ?) WHERE id = ?',
      stamp.now,
      user,
    );
    await tx.run('UPDATE link SET used_at = ? WHERE id = ?', stamp.now, link.id);
    const { id, slug: target } = organization;
    const actor = { actor: `usr_${user}`, actorName: link.email, way: 'portal' as const, ip: input.ip };
    const entry = { organization: id, ...actor, operation: 'join_organization', target, detail: { role: link.role } };
    await appendAudit(tx, entry, 'joined', stamp);
    return { kind: 'joined', organization: id, user };
  },
);

async function personOf(
  tx: Write,
  email: string,
  { key, by }: { key: string; by: JoinedBy },
  stamp: Stamp,
): Promise<number | undefined> {
  const account = await findPasswordUser(tx, key);
  if (account !== undefined) {
    const holds = by.kind === 'account' && by.user === account.user;
    return holds && (by.password === null || by.password === account.password) ? account.user : undefined;
  }
  if (by.kind !== 'new') return undefined;
  const user = await insertPendingUser(tx, { email, key, displayName: by.displayName }, stamp);
  await tx.run('UPDATE user SET password = ? WHERE id = ?', by.password, user);
  return user;
}
