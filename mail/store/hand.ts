import type { Read } from './engine/types.ts';

/**
 * Who changes a mailbox with a mail program: the row of the password that let it in. Tokens and programs have none, and
 * decide about nothing that waits for a person.
 */
export interface Hand {
  readonly credential: number;
}

/** Whether it is a person's, asked in the commit: a password may have been taken away a moment ago. */
export async function isPersons(rx: Read, account: number, hand: Hand | undefined): Promise<boolean> {
  if (hand === undefined) return false;
  const row = await rx.get(
    'SELECT 1 AS holds FROM credential WHERE id = ? AND account_id = ?',
    hand.credential,
    account,
  );
  return row !== undefined;
}
