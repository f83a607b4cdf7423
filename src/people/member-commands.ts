import { takeNoticeHit } from '../core/hits-commands.ts';
import { sendNotice, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, lookup, type Write } from '../../mail/store/engine/types.ts';
import { insertLink } from './commands.ts';

export type Role = 'owner' | 'admin' | 'member';

/** Mails an invitation: the link and its notice in one commit. */
export const inviteMember = command(
  'invite-member',
  async (
    tx,
    input: {
      organization: number;
      email: string;
      role: Role;
      hash: Uint8Array;
      expiresAt: number;
      notice: SystemNotice<'invitation'>;
      /** Hash of the address without its +tag. */
      base: string;
    },
    stamp,
  ): Promise<{ kind: 'invited' } | { kind: 'limited'; waitMs: number }> => {
    const waitMs = await takeNoticeHit(tx, 'invitation', input.base, stamp);
    if (waitMs > 0) return { kind: 'limited', waitMs };
    const { organization, email, role, hash, expiresAt } = input;
    await insertLink(
      tx,
      { purpose: 'invite', organization, user: null, email, role, mailed: true, hash, expiresAt },
      stamp,
    );
    await sendNotice(tx, input.notice, stamp);
    return { kind: 'invited' };
  },
);

/** Removes a person from an organization. The last owner cannot be removed. */
export const removeMember = command(
  'remove-member',
  async (
    tx,
    input: { organization: number; user: number },
  ): Promise<{ kind: 'removed' | 'last-owner' | 'missing' }> => {
    const row = await tx.get<{ role: string }>(
      'SELECT role FROM member WHERE organization_id = ? AND user_id = ?',
      input.organization,
      input.user,
    );
    if (row === undefined) return { kind: 'missing' };
    const owners = await tx.get<{ n: number }>(
      `SELECT count(*) AS n FROM member WHERE organization_id = ? AND role = 'owner'`,
      input.organization,
    );
    if (row.role === 'owner' && (owners?.n ?? 0) <= 1) return { kind: 'last-owner' };
    for (const sql of [
      'DELETE FROM member WHERE organization_id = ? AND user_id = ?',
      'DELETE FROM member_mailbox WHERE organization_id = ? AND user_id = ?',
    ]) {
      await tx.run(sql, input.organization, input.user);
    }
    return { kind: 'removed' };
  },
);

/** Changes the role or the mailboxes of a person. The last owner keeps the role. */
export const updateMember = command(
  'update-member',
  async (
    tx,
    input: { organization: number; user: number; role: Role | null; mailboxes: readonly number[] | null },
  ): Promise<{ kind: 'updated' | 'last-owner' | 'missing' }> => {
    const { organization, user, role, mailboxes } = input;
    const row = await tx.get<{ role: string }>(
      'SELECT role FROM member WHERE organization_id = ? AND user_id = ?',
      organization,
      user,
    );
    if (row === undefined) return { kind: 'missing' };
    const owners = await tx.get<{ n: number }>(
      `SELECT count(*) AS n FROM member WHERE organization_id = ? AND role = 'owner'`,
      organization,
    );
    if (role !== null && row.role === 'owner' && role !== 'owner' && (owners?.n ?? 0) <= 1)
      return { kind: 'last-owner' };
    if (role !== null) {
      await tx.run('UPDATE member SET role = ? WHERE organization_id = ? AND user_id = ?', role, organization, user);
    }
    if (mailboxes !== null) await setMailboxes(tx, { organization, user, mailboxes });
    return { kind: 'updated' };
  },
);

async function setMailboxes(
  tx: Write,
  { organization, user, mailboxes }: { organization: number; user: number; mailboxes: readonly number[] },
): Promise<void> {
  await tx.run('DELETE FROM member_mailbox WHERE organization_id = ? AND user_id = ?', organization, user);
  for (const account of mailboxes) {
    await tx.run(
      `INSERT INTO member_mailbox (organization_id, user_id, account_id)
       SELECT tenant, ?, id FROM account WHERE id = ? AND tenant = ? AND state < 2 ON CONFLICT DO NOTHING`,
      user,
      account,
      organization,
    );
  }
}

/** Accounts that a person may read in an organization. */
export const memberMailboxes = lookup(
  'member-mailboxes',
  async (rx, input: { organization: number; user: number }): Promise<number[]> => {
    const rows = await rx.all<{ account_id: number }>(
      'SELECT account_id FROM member_mailbox WHERE organization_id = ? AND user_id = ? ORDER BY account_id',
      input.organization,
      input.user,
    );
    return rows.map((row) => row.account_id);
  },
);

/** True while a person may use a mailbox of an organization, and it is not frozen. */
export const mayUseMailbox = lookup(
  'may-use-mailbox',
  async (rx, input: { organization: number; user: number; account: number }): Promise<boolean> => {
    const row = await rx.get(
      `SELECT 1 AS there FROM member m JOIN organization o ON o.id = m.organization_id
       WHERE m.organization_id = ?1 AND m.user_id = ?2 AND o.frozen_at IS NULL AND (m.role <> 'member'
         OR EXISTS (SELECT 1 FROM member_mailbox b WHERE b.organization_id = ?1 AND b.user_id = ?2 AND b.account_id = ?3))`,
      input.organization,
      input.user,
      input.account,
    );
    return row !== undefined;
  },
);

export interface OrganizationMember {
  user: number;
  email: string;
  displayName: string | null;
  role: Role;
  /** Has set a password. */
  active: boolean;
  addressProvenAt: number | null;
  since: number;
  /** Accounts assigned to a plain member. */
  mailboxes: number[];
}

export const listMembers = lookup(
  'list-members',
  async (rx, input: { organization: number }): Promise<OrganizationMember[]> => {
    const rows = await rx.all<Omit<OrganizationMember, 'active' | 'mailboxes'> & { active: number; mailboxes: string }>(
      `SELECT m.user_id AS user, u.email, u.display_name AS "displayName", m.role, u.password IS NOT NULL AS active,
         u.address_verified_at AS "addressProvenAt", m.created_at AS since,
         (SELECT json_group_array(b.account_id) FROM member_mailbox b
          WHERE b.organization_id = m.organization_id AND b.user_id = m.user_id) AS mailboxes
       FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = ? ORDER BY m.created_at, m.user_id`,
      input.organization,
    );
    return rows.map(({ active, mailboxes, ...row }) => ({
      ...row,
      active: active === 1,
      mailboxes: JSON.parse(mailboxes) as number[],
    }));
  },
);

/** Address that a claim link was sent to, until somebody claims the organization. */
export const pendingOwner = lookup(
  'pending-owner',
  (rx, input: { organization: number }): Promise<{ email: string; organization: string } | undefined> =>
    rx.get(
      `SELECT l.email, o.name AS organization FROM link l JOIN organization o ON o.id = l.organization_id
       WHERE l.organization_id = ? AND l.purpose = 'claim' AND l.email IS NOT NULL AND o.claimed_at IS NULL
       ORDER BY l.id LIMIT 1`,
      input.organization,
    ),
);
