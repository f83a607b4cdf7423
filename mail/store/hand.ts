import { command, type Read } from './engine/types.ts';

/**
 * Who changes a mailbox with a mail program: the row of the password that let it in. Tokens and programs have none, and
 * decide about nothing that waits for a person.
 */
export interface Hand {
  readonly credential: number;
}

/** Marks of a credential, beside what it opens: a person made it for a person; a token was shown it, or made it. */
export const PERSON = 'person';
export const SEEN_BY_AGENT = 'agent';

/**
 * Whether it is a person's, asked in the commit: a password may have been taken away a moment ago. One that a token was
 * shown is an agent's as well, and so is each of a mailbox under an agent policy that was not made for a person.
 */
export async function isPersons(rx: Read, account: number, hand: Hand | undefined): Promise<boolean> {
  if (hand === undefined) return false;
  const row = await rx.get<{ scopes: string; governed: number }>(
    `SELECT scopes, EXISTS (SELECT 1 FROM agent_policy_account WHERE account_id = ?2) AS governed
     FROM credential WHERE id = ?1 AND account_id = ?2`,
    hand.credential,
    account,
  );
  if (row === undefined) return false;
  const marks = row.scopes.split(' ');
  return marks.includes(PERSON) || (row.governed === 0 && !marks.includes(SEEN_BY_AGENT));
}

/**
 * Under which name (`pwd_12` of an app password, `mbx_3` of a mailbox's own) it is written down what an agent changes with a password of a mailbox under an agent policy; null: it
 * is a person's. Asked in the commit.
 */
export async function agentsName(rx: Read, account: number, hand: Hand | undefined): Promise<string | null> {
  if (hand === undefined) return null;
  const row = await rx.get<{ scopes: string; kind: string }>(
    `SELECT scopes, kind FROM credential WHERE id = ?1 AND account_id = ?2
       AND EXISTS (SELECT 1 FROM agent_policy_account WHERE account_id = ?2)`,
    hand.credential,
    account,
  );
  if (row === undefined || row.scopes.split(' ').includes(PERSON)) return null;
  return row.kind === 'mailbox' ? `mbx_${account}` : `pwd_${hand.credential}`;
}

/** A token is about to be shown the own password of a mailbox: from then on it is no proof of a person, until it is replaced. */
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
