import { textKey } from '../../mail/message/address.ts';
import { query, type Read } from '../../mail/store/engine/types.ts';
import { HAS_SECOND_FACTOR } from '../people/factor-commands.ts';
import { admitsSignIn, factorRequiredBy, type FactorRule, type ProviderRule } from '../people/rule-commands.ts';
import type { Role } from '../people/member-commands.ts';
import { SESSION_IDLE_MS } from '../people/session-commands.ts';

/** A mailbox that a person may open without its password. */
export interface OwnMailbox {
  account: number;
  tenant: number;
  address: string;
}

/**
 * Mailboxes of a person: those assigned to them, and the one of the address that they verified, in organizations that they belong to.
 * Owners and administrators do not open the mail of others this way.
 */
export const ownMailboxes = query('own-mailboxes', (rx, input: { user: number }): Promise<OwnMailbox[]> =>
  mailboxesOf(rx, input.user),
);

export async function mailboxesOf(rx: Read, user: number): Promise<OwnMailbox[]> {
  const person = await rx.get<{ email: string; verified: number | null }>(
    'SELECT email, address_verified_at AS verified FROM user WHERE id = ?',
    user,
  );
  if (person === undefined) return [];
  const key = person.verified === null ? '' : textKey(person.email);
  return rx.all<{ account: number; tenant: number; address: string }>(
    `SELECT a.id AS account, a.tenant, a.address FROM member m JOIN organization o ON o.id = m.organization_id
       JOIN account a ON a.tenant = m.organization_id
     WHERE m.user_id = ?1 AND o.frozen_at IS NULL AND a.state = 1 AND (a.address = ?2
       OR EXISTS (SELECT 1 FROM member_mailbox b WHERE b.organization_id = m.organization_id AND b.user_id = ?1
         AND b.account_id = a.id)) ORDER BY a.address`,
    user,
    key,
  );
}

/** True while a session of the portal is valid for its person and may open the mailbox. */
export async function mayOpenMailbox(
  rx: Read,
  { session, account }: { session: number; account: number },
  now: number,
): Promise<boolean> {
  const row = await rx.get<{ user: number; byProvider: number; has: number }>(
    `SELECT s.user_id AS user, s.by_provider AS "byProvider", ${HAS_SECOND_FACTOR} AS has FROM session s JOIN user u ON u.id = s.user_id
     WHERE s.id = ? AND s.expires_at > ? AND s.last_used_at > ?`,
    session,
    now,
    now - SESSION_IDLE_MS,
  );
  if (row === undefined) return false;
  const memberships = await rx.all<{
    organization: number;
    role: Role;
    frozen: number;
    factorRule: FactorRule;
    providerRule: ProviderRule;
  }>(
    `SELECT m.organization_id AS organization, m.role, o.frozen_at IS NOT NULL AS frozen, o.second_factor AS "factorRule",
       o.single_sign_on AS "providerRule"
     FROM member m JOIN organization o ON o.id = m.organization_id WHERE m.user_id = ?`,
    row.user,
  );
  const required = factorRequiredBy(memberships.map((one) => ({ ...one, frozen: one.frozen === 1 })));
  if (required.length > 0 && row.has === 0) return false;
  const open = memberships.filter((one) => admitsSignIn(one, row.byProvider === 1));
  const own = (await mailboxesOf(rx, row.user)).find((one) => one.account === account);
  return open.some(({ organization }) => organization === own?.tenant);
}

/** The person of a session of the portal, and whether they may decide about mail of agents in a mailbox. */
export interface SessionPerson {
  user: number;
  name: string;
  signedInAt: number;
  decides: boolean;
}

/** Finds the person of a session that {@link mayOpenMailbox} found valid. Members decide about mailboxes assigned to them. */
export async function personOfSession(
  rx: Read,
  { session, account, tenant }: { session: number; account: number; tenant: number },
): Promise<SessionPerson | undefined> {
  const row = await rx.get<{ user: number; name: string; signedInAt: number; role: Role; assigned: number }>(
    `SELECT u.id AS user, u.email AS name, s.created_at AS "signedInAt", m.role, EXISTS (SELECT 1 FROM member_mailbox b
         WHERE b.organization_id = ?2 AND b.user_id = u.id AND b.account_id = ?3) AS assigned
     FROM session s JOIN user u ON u.id = s.user_id JOIN member m ON m.user_id = u.id AND m.organization_id = ?2
     WHERE s.id = ?1`,
    session,
    tenant,
    account,
  );
  if (row === undefined) return undefined;
  const { user, name, signedInAt, role, assigned } = row;
  return { user, name, signedInAt, decides: role !== 'member' || assigned === 1 };
}
