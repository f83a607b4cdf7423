import { type Query, query } from '../../store/engine/types.ts';
import { matchExpression, NEWEST, rangeOf, type TextGroup } from './text-test.ts';

/** Hits of one author that are looked at: the newest may have left since. */
const LOOKED_AT = 5;

/** For each group of words, in their order, the newest email of an account that has them and is shown; null: none. */
export const newestWith: Query<{ account: number; groups: readonly TextGroup[] }, (number | null)[]> = query(
  'newest-with',
  async (rx, { account, groups }) => {
    const [first, last] = rangeOf(account);
    const found: (number | null)[] = [];
    for (const group of groups) {
      // Nothing but signs is in no index.
      if (group.terms.length === 0) {
        found.push(null);
        continue;
      }
      const hits = await rx.all<{ id: number }>(NEWEST, matchExpression([group]), first, last, LOOKED_AT);
      const shown = await rx.get<{ id: number | null }>(
        `SELECT max(n.email_id) AS id FROM json_each(?) j CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = j.value
           CROSS JOIN mailbox m ON m.id = n.mailbox_id WHERE n.flags & 16 = 0 AND m.gone_at IS NULL`,
        JSON.stringify(hits.map(({ id }) => id)),
      );
      found.push(shown?.id ?? null);
    }
    return found;
  },
);
