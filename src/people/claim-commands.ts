import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import {
  insertMember,
  insertPendingUser,
  findPasswordUser,
  type DeadLink,
  keyOf,
  type AccountLink,
  findLink,
} from './commands.ts';

/** Reason why a claim link cannot be used. `taken`: claimed before. */
export type ClaimRefusal = DeadLink | 'taken' | 'frozen';

export interface ClaimFacts {
  /** `prove`: the organization is claimed already, and this mailed link can still verify its owner's address. */
  kind: 'claim' | 'prove';
  organization: { id: number; name: string; slug: string };
  /** The owner's address; null if the link names nobody, then the claimer gives it. */
  email: string | null;
  mailed: boolean;
  /** Existing account of the address: then only its sign-in can claim. */
  account: { user: number; password: string } | null;
}

/** Proof of the owner: a first password, or the sign-in of the address. */
export type ClaimedBy =
  | { kind: 'new'; password: string; owner: { email: string; key: string } | null }
  /** `password` is the stored hash that was checked; null if a session proved the person. */
  | { kind: 'account'; user: number; password: string | null };

/** Previews a claim link. Reads only; `key` is the given address for a link that names nobody. */
export const claimFacts = query(
  'claim-facts',
  async (
    rx,
    input: { hash: Uint8Array; key: string | null; now: number },
  ): Promise<ClaimFacts | { kind: ClaimRefusal }> => {
    const found = await openClaim(rx, input.hash, input.now);
    if ('refused' in found) return { kind: found.refused };
    const { kind, link, organization } = found;
    const key = link.user === null ? input.key : ((await keyOf(rx, link.user)) ?? null);
    const account = key === null ? null : ((await findPasswordUser(rx, key)) ?? null);
    const { id, name, slug } = organization;
    return { kind, organization: { id, name, slug }, email: link.email, mailed: link.mailed, account };
  },
);

type Organization = { id: number; name: string; slug: string; claimed_at: number | null; frozen_at: number | null };
type OpenedClaim =
  { kind: ClaimFacts['kind']; link: AccountLink; organization: Organization } | { refused: ClaimRefusal };

async function openClaim(rx: Read, hash: Uint8Array, now: number): Promise<OpenedClaim> {
  const link = await findLink(rx, { purpose: 'claim', hash }, now);
  if (typeof link === 'string') return { refused: link };
  const organization = await rx.get<Organization>(
    'SELECT id, name, slug, claimed_at, frozen_at FROM organization WHERE id = ?',
    link.organization,
  );
  if (organization === undefined) return { refused: 'missing' };
  if (organization.frozen_at !== null) return { refused: 'frozen' };
  if (organization.claimed_at === null) return { kind: 'claim', link, organization };
  return (await isUnproven(rx, link)) ? { kind: 'prove', link, organization } : { refused: 'taken' };
}

/** Tests for a mailed link whose owner claimed by the other one and has not verified the address since. */
async function isUnproven(rx: Read, { mailed, user }: AccountLink): Promise<boolean> {
  if (!mailed || user === null) return false;
  const row = await rx.get(
    'SELECT 1 AS unproven FROM user WHERE id = ? AND password IS NOT NULL AND address_verified_at IS NULL',
    user,
  );
  return row !== undefined;
}

export type ClaimResult =
  | { kind: 'claimed' | 'proven'; organization: number; user: number; addressProven: boolean }
  /** The address has an account: sign in to it instead of setting a password. */
  | { kind: 'sign-in' }
  | { kind: 'address-needed' }
  | { kind: ClaimRefusal };

/**
 * Claims an organization by a link, once. All facts are read again here, so of concurrent claims one wins, and none changes an
 * existing password.
 */
export const claimOrganization = command(
  'claim-organization',
  async (
    tx,
    input: { hash: Uint8Array; by: ClaimedBy; way: 'portal' | 'rest'; ip: string },
    stamp,
  ): Promise<ClaimResult> => {
    const found = await openClaim(tx, input.hash, stamp.now);
    if ('refused' in found) return { kind: found.refused };
    const owner =
      found.kind === 'prove'
        ? await sameOwner(tx, found.link, input.by)
        : await ownerOf(tx, found.link, input.by, stamp);
    if (typeof owner === 'string') return { kind: owner };
    if (found.kind === 'claim') await makeOwner(tx, found, owner, stamp);
    if (found.link.mailed) await proveAddressOf(tx, owner, stamp);
    await useLink(tx, found.link, stamp);
    const kind = found.kind === 'claim' ? 'claimed' : 'proven';
    const { email, addressProven } = await ownerAddressOf(tx, owner);
    await appendAudit(tx, entryOf(input, found.organization, { user: owner, email }, kind), kind, stamp);
    return { kind, organization: found.organization.id, user: owner, addressProven };
  },
);

async function sameOwner(tx: Write, { user }: AccountLink, by: ClaimedBy): Promise<number | 'sign-in'> {
  if (by.kind !== 'account' || by.user !== user) return 'sign-in';
  const row = await tx.get<{ password: string | null }>('SELECT password FROM user WHERE id = ?', by.user);
  return by.password === null || by.password === row?.password ? by.user : 'sign-in';
}

/** Finds the future owner, or creates one with the first password if the address has no account. */
async function ownerOf(
  tx: Write,
  link: AccountLink,
  by: ClaimedBy,
  stamp: Stamp,
): Promise<number | 'sign-in' | 'address-needed' | 'missing'> {
  if (link.user === null && by.kind === 'account') return (await isCurrentPassword(tx, by)) ? by.user : 'sign-in';
  const key = link.user === null ? givenKey(by) : await keyOf(tx, link.user);
  if (key === undefined) return link.user === null ? 'address-needed' : 'missing';
  const account = await findPasswordUser(tx, key);
  if (account !== undefined) {
    return by.kind === 'account' && by.user === account.user && (await isCurrentPassword(tx, by))
      ? account.user
      : 'sign-in';
  }
  return by.kind === 'new' ? setFirstPassword(tx, link, by, stamp) : 'sign-in';
}

function givenKey(by: ClaimedBy): string | undefined {
  return by.kind === 'new' ? by.owner?.key : undefined;
}

/** Tests if the checked password is still the stored one. */
async function isCurrentPassword(tx: Write, by: ClaimedBy & { kind: 'account' }): Promise<boolean> {
  const row = await tx.get<{ password: string | null }>('SELECT password FROM user WHERE id = ?', by.user);
  return row !== undefined && row.password !== null && (by.password === null || by.password === row.password);
}

async function setFirstPassword(
  tx: Write,
  { user }: AccountLink,
  { password, owner }: ClaimedBy & { kind: 'new' },
  stamp: Stamp,
): Promise<number | 'missing' | 'address-needed'> {
  if (user === null && owner === null) return 'address-needed';
  const id =
    user ?? (await insertPendingUser(tx, { ...(owner as NonNullable<typeof owner>), displayName: null }, stamp));
  const { changes } = await tx.run('UPDATE user SET password = ? WHERE id = ? AND password IS NULL', password, id);
  return changes === 1 ? id : 'missing';
}

/** Makes the person owner; a person who was only named until now is merged into the one who signs in. */
async function makeOwner(
  tx: Write,
  { link, organization }: { link: AccountLink; organization: Organization },
  owner: number,
  stamp: Stamp,
): Promise<void> {
  await insertMember(tx, { organization: organization.id, user: owner, role: 'owner' }, stamp);
  await tx.run(`UPDATE member SET role = 'owner' WHERE organization_id = ? AND user_id = ?`, organization.id, owner);
  await tx.run('UPDATE organization SET claimed_at = ? WHERE id = ?', stamp.now, organization.id);
  if (link.user === null || link.user === owner) return;
  await tx.run('DELETE FROM member WHERE organization_id = ? AND user_id = ?', organization.id, link.user);
  await tx.run('UPDATE link SET user_id = ? WHERE user_id = ?', owner, link.user);
  await tx.run('DELETE FROM user WHERE id = ? AND password IS NULL', link.user);
}

async function proveAddressOf(tx: Write, user: number, stamp: Stamp): Promise<void> {
  await tx.run('UPDATE user SET address_verified_at = coalesce(address_verified_at, ?) WHERE id = ?', stamp.now, user);
}

/** Uses up this link and all others of its organization; a mailed one stays while it can verify the address. */
async function useLink(tx: Write, { organization, mailed, id }: AccountLink, stamp: Stamp): Promise<void> {
  await tx.run(
    `UPDATE link SET used_at = ? WHERE organization_id = ? AND purpose = 'claim' AND used_at IS NULL
     AND (id = ? OR mailed = 0 OR ? = 1)`,
    stamp.now,
    organization,
    id,
    Number(mailed),
  );
}

async function ownerAddressOf(rx: Read, user: number): Promise<{ email: string; addressProven: boolean }> {
  const row = await rx.get<{ email: string; address_verified_at: number | null }>(
    'SELECT email, address_verified_at FROM user WHERE id = ?',
    user,
  );
  return { email: row?.email ?? '', addressProven: (row?.address_verified_at ?? null) !== null };
}

function entryOf(
  { way, ip }: { way: 'portal' | 'rest'; ip: string },
  { id: organization, slug: target }: Organization,
  { user, email: actorName }: { user: number; email: string },
  kind: 'claimed' | 'proven',
): AuditEntry {
  const operation = kind === 'claimed' ? 'claim_organization' : 'prove_address';
  return { organization, actor: `usr_${user}`, actorName, way, ip, operation, target, detail: {} };
}
