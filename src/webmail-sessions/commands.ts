import { parseAddress } from '../../mail/message/address.ts';
import type { Login } from '../../mail/login/types.ts';
import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';

import { mayOpenMailbox, personOfSession, type SessionPerson } from './access-queries.ts';

const DAY_MS = 86_400_000;
/** Idle timeout of a session. */
export const MAIL_SESSION_IDLE_MS = 7 * DAY_MS;
/** Maximum age of a session. */
export const MAIL_SESSION_LIFE_MS = 30 * DAY_MS;
/** Uses within this time of the recorded one are not written. */
export const MAIL_SESSION_GRAIN_MS = 600_000;
const MAX_SESSIONS = 50;

export interface NewMailSession {
  account: number;
  /** The password that was checked. */
  credential: number;
  /** SHA-256 of the cookie's secret. */
  hash: Uint8Array;
  ip: string;
  agent: string;
  /** Hash of the session that this one replaces. */
  before: Uint8Array | null;
}

/** Starts a session of web mail. Ends the one before it in this browser, expired ones, and the oldest above the limit. */
export const openMailSession = command('open-mail-session', (tx, input: NewMailSession, stamp): Promise<void> =>
  insertMailSession(tx, input, null, stamp),
);

/** The same; `session` is that of the portal that opens it, then there is no password. */
export async function insertMailSession(
  tx: Write,
  input: NewMailSession,
  session: number | null,
  { now }: Stamp,
): Promise<void> {
  const { account, credential, hash, ip, agent, before } = input;
  if (before !== null) await tx.run('DELETE FROM mail_session WHERE token_hash = ?', before);
  await tx.run(
    'DELETE FROM mail_session WHERE id IN (SELECT id FROM mail_session WHERE expires_at <= ? LIMIT 50)',
    now,
  );
  await tx.run(
    `DELETE FROM mail_session WHERE account_id = ? AND id NOT IN
       (SELECT id FROM mail_session WHERE account_id = ? ORDER BY last_used_at DESC LIMIT ?)`,
    account,
    account,
    MAX_SESSIONS - 1,
  );
  await tx.run(
    `INSERT INTO mail_session
       (token_hash, account_id, credential_id, ip, agent, created_at, last_used_at, expires_at, session_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    hash,
    account,
    credential,
    ip,
    agent.slice(0, 300),
    now,
    now,
    now + MAIL_SESSION_LIFE_MS,
    session,
  );
}

export const touchMailSession = command(
  'touch-mail-session',
  async (tx, input: { id: number }, stamp): Promise<void> => {
    await tx.run('UPDATE mail_session SET last_used_at = ? WHERE id = ?', stamp.now, input.id);
    // Reading mail uses the session of the portal too, which would end after two hours otherwise.
    await tx.run(
      'UPDATE session SET last_used_at = ? WHERE id = (SELECT session_id FROM mail_session WHERE id = ?)',
      stamp.now,
      input.id,
    );
  },
);

export const endMailSession = command('end-mail-session', async (tx, input: { hash: Uint8Array }): Promise<void> => {
  await tx.run('DELETE FROM mail_session WHERE token_hash = ?', input.hash);
});

type MailSessionRow = {
  id: number;
  lastUsedAt: number;
  expiresAt: number;
  account: number;
  tenant: number;
  address: string;
  credential: number;
  /** Null: opened from the portal. */
  scopes: string | null;
  credentialExpiresAt: number | null;
  session: number | null;
};

export interface MailSession {
  id: number;
  lastUsedAt: number;
  /** The login that its password gives; it expires with the earlier of both. */
  login: Login;
  /** The person who opened it from the portal, without a password. */
  person?: SessionPerson | undefined;
}

/** Finds the session of a cookie; undefined when it, its password or its account has ended. */
export const findMailSession = query(
  'find-mail-session',
  async (rx, input: { hash: Uint8Array; now: number }): Promise<MailSession | undefined> => {
    const row = await rx.get<MailSessionRow>(
      `SELECT s.id, s.last_used_at AS "lastUsedAt", s.expires_at AS "expiresAt", a.id AS account, a.tenant, a.address,
         s.credential_id AS credential, c.scopes, c.expires_at AS "credentialExpiresAt", s.session_id AS session
       FROM mail_session s LEFT JOIN credential c ON c.id = s.credential_id AND c.account_id = s.account_id
         JOIN account a ON a.id = s.account_id AND a.state = 1
       WHERE s.token_hash = ? AND s.expires_at > ? AND s.last_used_at > ?
         AND (c.expires_at IS NULL OR c.expires_at > ?)`,
      input.hash,
      input.now,
      input.now - MAIL_SESSION_IDLE_MS,
      input.now,
    );
    if (row === undefined) return undefined;
    const { id, lastUsedAt, account, tenant, credential, session } = row;
    const address = parseAddress(row.address);
    const scopes = await scopesOf(rx, row, input.now);
    if (address === undefined || !scopes.includes('jmap')) return undefined;
    const expiresAt = Math.min(row.expiresAt, row.credentialExpiresAt ?? row.expiresAt);
    const readOnly = scopes.includes('read-only');
    return {
      id,
      lastUsedAt,
      login: { account, tenant, address, credential, expiresAt, ...(readOnly && { readOnly }) },
      ...(session !== null && { person: await personOfSession(rx, { session, account, tenant }) }),
    };
  },
);

/** Scopes of the password, or of the person while the session of the portal holds. */
async function scopesOf(rx: Read, { scopes, session, account }: MailSessionRow, now: number): Promise<string[]> {
  if (session === null) return scopes?.split(' ') ?? [];
  return (await mayOpenMailbox(rx, { session, account }, now)) ? ['jmap'] : [];
}
