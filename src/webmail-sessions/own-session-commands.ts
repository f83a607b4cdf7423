import { command, query, type Read } from '../../mail/store/engine/types.ts';
import { SESSION_IDLE_MS } from '../people/session-commands.ts';
import { mailboxesOf } from './access-queries.ts';
import { MAIL_SESSION_IDLE_MS } from './commands.ts';

/** A session of web mail in a mailbox of a person. */
export type OwnMailSession = {
  id: number;
  account: number;
  address: string;
  credential: number;
  /** Session of the portal that opened it; null: a password of the mailbox. */
  session: number | null;
  ip: string;
  agent: string;
  createdAt: number;
  lastUsedAt: number;
};

const MAX_SESSIONS = 100;

/** Active sessions of web mail in the mailboxes of a person, last used first: by a password, or by the person from the portal. */
async function ownSessions(rx: Read, user: number, now: number): Promise<OwnMailSession[]> {
  const accounts = (await mailboxesOf(rx, user)).map(({ account }) => account);
  return rx.all<OwnMailSession>(
    `SELECT s.id, s.account_id AS account, a.address, s.credential_id AS credential, s.session_id AS session, s.ip, s.agent,
       s.created_at AS "createdAt", s.last_used_at AS "lastUsedAt"
     FROM mail_session s JOIN account a ON a.id = s.account_id
     WHERE s.account_id IN (SELECT value FROM json_each(?1)) AND s.expires_at > ?2 AND s.last_used_at > ?3
       AND CASE WHEN s.session_id IS NULL
         THEN EXISTS (SELECT 1 FROM credential c WHERE c.id = s.credential_id AND (c.expires_at IS NULL OR c.expires_at > ?2))
         ELSE EXISTS (SELECT 1 FROM session p
           WHERE p.id = s.session_id AND p.user_id = ?4 AND p.expires_at > ?2 AND p.last_used_at > ?5) END
     ORDER BY s.last_used_at DESC, s.id DESC LIMIT ${MAX_SESSIONS}`,
    JSON.stringify(accounts),
    now,
    now - MAIL_SESSION_IDLE_MS,
    user,
    now - SESSION_IDLE_MS,
  );
}

export const ownMailSessions = query(
  'own-mail-sessions',
  (rx, input: { user: number; now: number }): Promise<OwnMailSession[]> => ownSessions(rx, input.user, input.now),
);

/** Ends one session of web mail in a mailbox of a person, or with `keep` all but that one. Returns those that ended. */
export const endOwnMailSessions = command(
  'end-own-mail-sessions',
  async (
    tx,
    input: { user: number } & ({ id: number } | { keep: Uint8Array | null }),
    stamp,
  ): Promise<{ ended: { account: number; credential: number }[] }> => {
    const all = await ownSessions(tx, input.user, stamp.now);
    const kept = 'id' in input ? undefined : await idOf(tx, input.keep);
    const ended = all.filter(({ id }) => ('id' in input ? id === input.id : id !== kept));
    await tx.run(
      'DELETE FROM mail_session WHERE id IN (SELECT value FROM json_each(?))',
      JSON.stringify(ended.map(({ id }) => id)),
    );
    for (const { account, credential } of ended) tx.loginsEnded(account, credential);
    return { ended: ended.map(({ account, credential }) => ({ account, credential })) };
  },
);

async function idOf(rx: Read, hash: Uint8Array | null): Promise<number | undefined> {
  if (hash === null) return undefined;
  return (await rx.get<{ id: number }>('SELECT id FROM mail_session WHERE token_hash = ?', hash))?.id;
}
