import type { Trust, FilterVerdict } from '../../policy/trust.ts';
import { lookup, type Read, type Write } from '../engine/types.ts';

/** Filter result of a stored message: authentication and verdict. */
export interface StoredFilterResult {
  trust: Trust;
  verdict: FilterVerdict;
}

/** Records the filter result of a message, in the commit that stores it. */
export async function recordFilterResult(
  tx: Write,
  email: number,
  { trust, verdict, senders }: StoredFilterResult & { senders: readonly string[] },
): Promise<void> {
  await tx.send(
    'INSERT INTO filter_result (email_id, trust, verdict, senders) VALUES (?, ?, ?, ?)',
    email,
    JSON.stringify(trust),
    JSON.stringify(verdict),
    JSON.stringify(senders),
  );
}

export async function deleteFilterResult(tx: Write, email: number): Promise<void> {
  await tx.run('DELETE FROM filter_result WHERE email_id = ?', email);
}

/** Filter results of at most 500 messages; locally written ones have none. */
export const filterResultsOf = lookup(
  'filter-results-of',
  async (rx, input: { emails: readonly number[] }): Promise<Map<number, StoredFilterResult>> => {
    const rows = await rx.all<{ email_id: number; trust: string; verdict: string }>(
      'SELECT email_id, trust, verdict FROM filter_result WHERE email_id IN (SELECT value FROM json_each(?))',
      JSON.stringify(input.emails),
    );
    return new Map(
      rows.map(({ email_id: id, trust, verdict }) => [
        id,
        { trust: JSON.parse(trust) as Trust, verdict: JSON.parse(verdict) as FilterVerdict },
      ]),
    );
  },
);

/** Sender keys of a message; empty for a locally written one. */
export async function sendersOf(rx: Read, email: number): Promise<string[]> {
  const row = await rx.get<{ senders: string }>('SELECT senders FROM filter_result WHERE email_id = ?', email);
  return row === undefined ? [] : (JSON.parse(row.senders) as string[]);
}
