import type { Read } from './engine/types.ts';

/**
 * Who changes a mailbox with a mail program: the row of the password that let it in. Tokens and programs have none, and
 * decide about nothing that waits for a person.
 */
export interface Hand {
  readonly credential: number;
}

/** Among the scopes of a password: a person uses it, also where agents have the mailbox's own. */
export const PERSON = 'person';

/**
 * Whether it is a person's, asked in the commit: a password may have been taken away a moment ago. Of a mailbox under an
 * agent policy only those are that somebody marked so.
 */
export async function isPersons(rx: Read, account: number, hand: Hand | undefined): Promise<boolean> {
  if (hand === undefined) return false;
  const row = await rx.get<{ scopes: string; governed: number }>(
    `SELECT c.scopes, EXISTS (SELECT 1 FROM agent_policy_account p WHERE p.account_id = c.account_id) AS governed
     FROM credential c WHERE c.id = ? AND c.account_id = ?`,
    hand.credential,
    account,
  );
  return row !== undefined && (row.governed === 0 || row.scopes.split(' ').includes(PERSON));
}
