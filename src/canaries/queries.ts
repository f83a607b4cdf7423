import { query } from '../../mail/store/engine/types.ts';
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
