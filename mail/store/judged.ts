import type { Trust, Verdict } from '../policy/trust.ts';
import { query, type Read, type Write } from './engine/types.ts';

/** What this box found out about a message, and what it made of that. */
export interface Judged {
  trust: Trust;
  verdict: Verdict;
}

/** Keeps what was found out about a message of an account, in the commit that stores it. */
export async function keepJudged(
  tx: Write,
  email: number,
  { trust, verdict, senders }: Judged & { senders: readonly string[] },
): Promise<void> {
  await tx.run(
    'INSERT INTO judged (email_id, trust, verdict, senders) VALUES (?, ?, ?, ?)',
    email,
    JSON.stringify(trust),
    JSON.stringify(verdict),
    JSON.stringify(senders),
  );
}

export async function forgetJudged(tx: Write, email: number): Promise<void> {
  await tx.run('DELETE FROM judged WHERE email_id = ?', email);
}

/** What is known of messages, by their rows; those that were written here are not among them. At most 500. */
export const judgedOf = query(
  'judged-of',
  async (rx, input: { emails: readonly number[] }): Promise<Map<number, Judged>> => {
    const rows = await rx.all<{ email_id: number; trust: string; verdict: string }>(
      'SELECT email_id, trust, verdict FROM judged WHERE email_id IN (SELECT value FROM json_each(?))',
      JSON.stringify(input.emails),
    );
    return new Map(
      rows.map(({ email_id: id, trust, verdict }) => [
        id,
        { trust: JSON.parse(trust) as Trust, verdict: JSON.parse(verdict) as Verdict },
      ]),
    );
  },
);

/** The keys of the sender of a message; none of what was written here. */
export async function sendersOf(rx: Read, email: number): Promise<string[]> {
  const row = await rx.get<{ senders: string }>('SELECT senders FROM judged WHERE email_id = ?', email);
  return row === undefined ? [] : (JSON.parse(row.senders) as string[]);
}
