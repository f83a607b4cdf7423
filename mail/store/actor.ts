import type { Actor } from './actor-types.ts';
import { command, type Read } from './engine/types.ts';

export type { Actor } from './actor-types.ts';

/**
 * Marks in the scopes of a credential: PERSON was created for a person; SEEN_BY_AGENT was created by or shown to a
 * token; CHOSEN was chosen by a person, who may use it elsewhere, and is never shown.
 */
export const PERSON = 'person';
export const SEEN_BY_AGENT = 'agent';
export const CHOSEN = 'chosen';

/**
 * Reports whether the actor is a person. Checked in the commit, since the password may have been revoked a moment ago.
 * A password that a token was shown counts as an agent's, and so does each of a mailbox under an agent policy that was
 * not created for a person.
 */
export async function isHuman(rx: Read, account: number, actor: Actor | undefined): Promise<boolean> {
  if (actor === undefined) return false;
  if ('person' in actor) return true;
  const row = await rx.get<{ scopes: string; governed: number }>(
    `SELECT scopes, EXISTS (SELECT 1 FROM agent_policy_account WHERE account_id = ?2) AS governed
     FROM credential WHERE id = ?1 AND account_id = ?2`,
    actor.credential,
    account,
  );
  if (row === undefined) return false;
  const marks = row.scopes.split(' ');
  return marks.includes(PERSON) || (row.governed === 0 && !marks.includes(SEEN_BY_AGENT));
}

/**
 * Name under which changes with a password of a mailbox under an agent policy are recorded: `pwd_12` for an app
 * password, `mbx_3` for the mailbox's own; null: a person's. Checked in the commit.
 */
export async function agentName(rx: Read, account: number, actor: Actor | undefined): Promise<string | null> {
  if (actor === undefined || 'person' in actor) return null;
  const row = await rx.get<{ scopes: string; kind: string }>(
    `SELECT scopes, kind FROM credential WHERE id = ?1 AND account_id = ?2
       AND EXISTS (SELECT 1 FROM agent_policy_account WHERE account_id = ?2)`,
    actor.credential,
    account,
  );
  if (row === undefined || row.scopes.split(' ').includes(PERSON)) return null;
  return row.kind === 'mailbox' ? `mbx_${account}` : `pwd_${actor.credential}`;
}

/** Marks the mailbox's own password as shown to a token: until it is replaced, it no longer identifies a person. */
export const markSeenByAgent = command(
  'mark-seen-by-agent',
  async (tx, { account }: { account: number }): Promise<void> => {
    await tx.run(
      `UPDATE credential SET scopes = scopes || ' ' || ?2 WHERE account_id = ?1 AND kind = 'mailbox'
         AND ' ' || scopes || ' ' NOT LIKE '% ' || ?2 || ' %'`,
      account,
      SEEN_BY_AGENT,
    );
  },
);
