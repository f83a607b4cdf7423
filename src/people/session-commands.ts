import { command, lookup, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { findLink, type DeadLink, insertLink } from './commands.ts';
import { recordDevice } from './device-commands.ts';
import { admitsSignIn, type FactorRule, type ProviderRule } from './rule-commands.ts';
import { HAS_SECOND_FACTOR, type SignInMethod } from './factor-commands.ts';
import type { Role } from './member-commands.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';

const HOUR = 3_600_000;
/** Idle timeout of a session. */
export const SESSION_IDLE_MS = 2 * HOUR;
/** Age of a session from which on irreversible actions need the password again. */
export const FRESH_SIGN_IN_MS = HOUR / 4;
/** Maximum age of a session. */
export const SESSION_LIFE_MS = 7 * 24 * HOUR;
/** Uses within this time of the recorded one are not written. */
export const SESSION_GRAIN_MS = 60_000;
const MOST_SESSIONS = 50;

export interface NewSession {
  user: number;
  /** SHA-256 of the cookie's secret. */
  hash: Uint8Array;
  ip: string;
  agent: string;
  /** Hash of the session that this one replaces. */
  before: Uint8Array | null;
  /** SHA-256 of the cookie that recognizes the browser. */
  device: Uint8Array;
  method: SignInMethod;
  /** The first factor was the OpenID provider. */
  byProvider?: boolean;
}

/** Starts a session. Ends the one before it in this browser, expired ones, and the oldest above the limit. */
export async function startSession(tx: Write, input: NewSession, stamp: Stamp): Promise<number> {
  if (input.before !== null) await tx.run('DELETE FROM session WHERE token_hash = ?', input.before);
  await tx.run('DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at <= ? LIMIT 50)', stamp.now);
  await tx.run(
    `DELETE FROM session WHERE user_id = ? AND id NOT IN
       (SELECT id FROM session WHERE user_id = ? ORDER BY last_used_at DESC LIMIT ?)`,
    input.user,
    input.user,
    MOST_SESSIONS - 1,
  );
  await recordDevice(tx, input, stamp);
  return insertSession(tx, input, stamp);
}

async function insertSession(tx: Write, session: NewSession, { now }: Stamp): Promise<number> {
  const { user, hash, ip, agent, method, byProvider = false } = session;
  const { id } = await tx.run(
    `INSERT INTO session (token_hash, user_id, ip, agent, created_at, last_used_at, expires_at, method, by_provider)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    hash,
    user,
    ip,
    agent,
    now,
    now,
    now + SESSION_LIFE_MS,
    method,
    Number(byProvider),
  );
  return id;
}

export const touchSession = command('touch-session', async (tx, input: { id: number }, stamp): Promise<void> => {
  await tx.run('UPDATE session SET last_used_at = ? WHERE id = ?', stamp.now, input.id);
});

/** Ends one session of a person, or with `keep` all others. */
export const endSessions = command(
  'end-sessions',
  async (tx, input: { user: number } & ({ id: number } | { keep: number })): Promise<{ ended: number }> => {
    const { changes } =
      'id' in input
        ? await tx.run('DELETE FROM session WHERE user_id = ? AND id = ?', input.user, input.id)
        : await tx.run('DELETE FROM session WHERE user_id = ? AND id <> ?', input.user, input.keep);
    return { ended: changes };
  },
);

/** Uses a sign-in link. Returns the person it signs in. */
export const spendSignIn = command(
  'use-sign-in-link',
  async (tx, input: { hash: Uint8Array }, stamp): Promise<{ kind: 'in'; user: number } | { kind: DeadLink }> => {
    const link = await findLink(tx, { purpose: 'sign-in', hash: input.hash }, stamp.now);
    if (typeof link === 'string') return { kind: link };
    await tx.run('UPDATE link SET used_at = ? WHERE id = ?', stamp.now, link.id);
    return link.user === null ? { kind: 'missing' } : { kind: 'in', user: link.user };
  },
);

export interface Membership {
  organization: number;
  name: string;
  slug: string;
  role: Role;
  frozen: boolean;
  claimed: boolean;
  /** People of the organization who need a second factor. */
  factorRule: FactorRule;
  /** Sign-ins by the provider that open it. */
  providerRule: ProviderRule;
}

export interface Person {
  id: number;
  email: string;
  displayName: string | null;
  /** As stored; null: none was ever set. */
  password: string | null;
  addressProven: boolean;
  /** Signs in with a second factor. */
  secondFactor: boolean;
}

export interface PortalSession {
  id: number;
  createdAt: number;
  lastUsedAt: number;
  method: SignInMethod;
  byProvider: boolean;
}

/** Person and organizations of a session; undefined if it has expired. `closed`: organizations that need another way to sign in. */
export const findVisitor = query(
  'find-session-user',
  async (
    rx,
    input: { hash: Uint8Array; now: number },
  ): Promise<
    { session: PortalSession; person: Person; memberships: Membership[]; closed: Membership[] } | undefined
  > => {
    const row = await rx.get<
      Omit<Person, 'addressProven' | 'secondFactor'> &
        Record<'session' | 'createdAt' | 'lastUsedAt' | 'byProvider' | 'addressProven' | 'secondFactor', number> & {
          method: SignInMethod;
        }
    >(
      `SELECT s.id AS session, s.created_at AS "createdAt", s.last_used_at AS "lastUsedAt", s.method,
         s.by_provider AS "byProvider", u.id, u.email,
         u.display_name AS "displayName", u.password, u.address_verified_at IS NOT NULL AS "addressProven",
         ${HAS_SECOND_FACTOR} AS "secondFactor"
       FROM session s JOIN user u ON u.id = s.user_id
       WHERE s.token_hash = ? AND s.expires_at > ? AND s.last_used_at > ?`,
      input.hash,
      input.now,
      input.now - SESSION_IDLE_MS,
    );
    if (row === undefined) return undefined;
    const { session, createdAt, lastUsedAt, method, byProvider: first, addressProven, secondFactor, ...person } = row;
    const byProvider = first === 1;
    const rows = await rx.all<Omit<Membership, 'frozen' | 'claimed'> & { frozen: number; claimed: number }>(
      `SELECT m.organization_id AS organization, o.name, o.slug, m.role, o.frozen_at IS NOT NULL AS frozen,
         o.claimed_at IS NOT NULL AS claimed, o.second_factor AS "factorRule",
         o.single_sign_on AS "providerRule"
       FROM member m JOIN organization o ON o.id = m.organization_id WHERE m.user_id = ? ORDER BY o.name, o.id`,
      person.id,
    );
    const all = rows.map((one) => ({ ...one, frozen: one.frozen === 1, claimed: one.claimed === 1 }));
    return {
      session: { id: session, createdAt, lastUsedAt, method, byProvider },
      person: { ...person, addressProven: addressProven === 1, secondFactor: secondFactor === 1 },
      memberships: all.filter((one) => admitsSignIn(one, byProvider)),
      closed: all.filter((one) => !admitsSignIn(one, byProvider)),
    };
  },
);

export type SessionLine = {
  id: number;
  ip: string;
  agent: string;
  createdAt: number;
  lastUsedAt: number;
  method: SignInMethod;
};

/** Active sessions of a person, last used first. */
export const listSessions = lookup(
  'list-sessions',
  (rx, input: { user: number; now: number }): Promise<SessionLine[]> =>
    rx.all<SessionLine>(
      `SELECT id, ip, agent, created_at AS "createdAt", last_used_at AS "lastUsedAt", method FROM session
       WHERE user_id = ? AND expires_at > ? AND last_used_at > ? ORDER BY last_used_at DESC, id DESC`,
      input.user,
      input.now,
      input.now - SESSION_IDLE_MS,
    ),
);

const DAY = 86_400_000;

/**
 * Adds a sign-in link for a member of the operator's organization; `key` is the address as compared, null the first owner.
 * Deletes earlier unused links of the person.
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
       WHERE m.organization_id = ?1 AND (u.email_key = ?2 OR (?2 IS NULL AND m.role = 'owner'))
       ORDER BY u.password IS NULL, u.id LIMIT 1`,
      OPERATOR,
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
