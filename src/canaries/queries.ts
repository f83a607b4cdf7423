import { query, type Row } from '../../mail/store/engine/types.ts';
import { rowId } from '../ids.ts';

/** What people call a token; of a mailbox's password that it is one. */
export const nameOfCredential = query(
  'name-of-credential',
  async (rx, { credential }: { credential: string }): Promise<string> => {
    const token = rowId('token', credential);
    if (token === undefined) return 'a password of the mailbox';
    return (await rx.get<{ name: string }>('SELECT name FROM token WHERE id = ?', token))?.name ?? '';
  },
);

/** A canary to which somebody went, and where it lies. */
interface Fresh extends Row {
  canary: number;
  account: number;
  tenant: number;
}

/**
 * Those of these canaries for which a credential does not stand still already: a token does while it is frozen, a password
 * until a person has looked at its trip. A token that was let work again goes there anew, whether or not anybody looked.
 */
export const freshTrips = query(
  'fresh-trips',
  (rx, { canaries, credential }: { canaries: readonly number[]; credential: string }): Promise<Fresh[]> =>
    rx.all<Fresh>(
      `SELECT c.id AS canary, c.account_id AS account, c.tenant FROM canary c
       WHERE c.id IN (SELECT value FROM json_each(?1)) AND NOT EXISTS (SELECT 1 FROM canary_trip t
         WHERE t.canary_id = c.id AND t.credential = ?2 AND t.settled_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM token k WHERE k.id = ?3 AND k.mode <> 'frozen'))`,
      JSON.stringify(canaries),
      credential,
      rowId('token', credential) ?? 0,
    ),
);
