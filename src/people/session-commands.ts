import { command, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { linkOf, type DeadLink } from './link-queries.ts';
import type { Role } from './member-commands.ts';

const HOUR = 3_600_000;
/** A session that is not used for so long is over... */
export const SESSION_IDLE_MS = 2 * HOUR;
/** ...and this long after it began in any case. */
export const SESSION_LIFE_MS = 7 * 24 * HOUR;
/** Uses within so long of the noted one are not written down. */
export const SESSION_GRAIN_MS = 60_000;
const MOST_SESSIONS = 50;

export interface NewSession {
  user: number;
  /** SHA-256 of what the cookie carries. */
  hash: Uint8Array;
  ip: string;
  agent: string;
  /** Hash of the session that this one takes the place of. */
  before: Uint8Array | null;
}

/** Begins a session. The one before it in this browser ends, and so does what is old or too much. */
export const openSession = command('open-session', async (tx, input: NewSession, stamp): Promise<number> => {
  if (input.before !== null) await tx.run('DELETE FROM session WHERE token_hash = ?', input.before);
  await tx.run('DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at <= ? LIMIT 50)', stamp.now);
  await tx.run(
    `DELETE FROM session WHERE user_id = ? AND id NOT IN
       (SELECT id FROM session WHERE user_id = ? ORDER BY last_used_at DESC LIMIT ?)`,
    input.user,
    input.user,
    MOST_SESSIONS - 1,
  );
  return insertSession(tx, input, stamp);
});

async function insertSession(tx: Write, { user, hash, ip, agent }: NewSession, { now }: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO session (token_hash, user_id, ip, agent, created_at, last_used_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    hash,
    user,
    ip,
    agent,
    now,
    now,
    now + SESSION_LIFE_MS,
  );
  return id;
}

export const touchSession = command('touch-session', async (tx, input: { id: number }, stamp): Promise<void> => {
  await tx.run('UPDATE session SET last_used_at = ? WHERE id = ?', stamp.now, input.id);
});

/** Ends one session of a person, or with `keep` every other one. */
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

/** Uses a sign-in link up. Answers whom it signs in. */
export const spendSignIn = command(
  'spend-sign-in',
  async (tx, input: { hash: Uint8Array }, stamp): Promise<{ kind: 'in'; user: number } | { kind: DeadLink }> => {
    const link = await linkOf(tx, { purpose: 'sign-in', hash: input.hash }, stamp.now);
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
}

export interface Person {
  id: number;
  email: string;
  displayName: string | null;
  /** As stored; null: never set one. */
  password: string | null;
  addressProven: boolean;
}

export interface Session {
  id: number;
  createdAt: number;
  lastUsedAt: number;
}

/** Who holds a session, and where they belong. Undefined when it is over. */
export const findVisitor = query(
  'find-visitor',
  async (
    rx,
    input: { hash: Uint8Array; now: number },
  ): Promise<{ session: Session; person: Person; memberships: Membership[] } | undefined> => {
    const row = await rx.get<{
      session_id: number;
      created_at: number;
      last_used_at: number;
      id: number;
      email: string;
      display_name: string | null;
      password: string | null;
      address_proven_at: number | null;
    }>(
      `SELECT s.id AS session_id, s.created_at, s.last_used_at, u.id, u.email, u.display_name, u.password, u.address_proven_at
       FROM session s JOIN user u ON u.id = s.user_id
       WHERE s.token_hash = ? AND s.expires_at > ? AND s.last_used_at > ?`,
      input.hash,
      input.now,
      input.now - SESSION_IDLE_MS,
    );
    if (row === undefined) return undefined;
    const organizations = await rx.all<{
      organization_id: number;
      name: string;
      slug: string;
      role: string;
      frozen_at: number | null;
      claimed_at: number | null;
    }>(
      `SELECT m.organization_id, o.name, o.slug, m.role, o.frozen_at, o.claimed_at
       FROM member m JOIN organization o ON o.id = m.organization_id WHERE m.user_id = ? ORDER BY o.name, o.id`,
      row.id,
    );
    return {
      session: { id: row.session_id, createdAt: row.created_at, lastUsedAt: row.last_used_at },
      person: {
        id: row.id,
        email: row.email,
        displayName: row.display_name,
        password: row.password,
        addressProven: row.address_proven_at !== null,
      },
      memberships: organizations.map((one) => ({
        organization: one.organization_id,
        name: one.name,
        slug: one.slug,
        role: one.role as Role,
        frozen: one.frozen_at !== null,
        claimed: one.claimed_at !== null,
      })),
    };
  },
);

export interface SessionLine {
  id: number;
  ip: string;
  agent: string;
  createdAt: number;
  lastUsedAt: number;
}

/** The sessions of a person that are not over, last used first. */
export const listSessions = query(
  'list-sessions',
  async (rx, input: { user: number; now: number }): Promise<SessionLine[]> => {
    const rows = await rx.all<{ id: number; ip: string; agent: string; created_at: number; last_used_at: number }>(
      `SELECT id, ip, agent, created_at, last_used_at FROM session
       WHERE user_id = ? AND expires_at > ? AND last_used_at > ? ORDER BY last_used_at DESC, id DESC`,
      input.user,
      input.now,
      input.now - SESSION_IDLE_MS,
    );
    return rows.map((row) => ({
      id: row.id,
      ip: row.ip,
      agent: row.agent,
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }));
  },
);
