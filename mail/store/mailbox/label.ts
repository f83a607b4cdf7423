import { command, query } from '../engine/types.ts';
import { DELETED, kwList, storeKeywords } from './flags.ts';

/** Limit of created labels of one account. */
export const MAX_LABELS = 500;

/** Creates a label that stays without messages. It gets a free keyword slot, if any, since mail programs list those. */
export const addLabel = command(
  'create-label',
  async (
    tx,
    { account, name }: { account: number; name: string },
    { now },
  ): Promise<{ kind: 'made' | 'exists' | 'too-many' }> => {
    const row = await tx.get<{ made: number }>('SELECT count(*) AS made FROM label WHERE account_id = ?', account);
    if ((row?.made ?? 0) >= MAX_LABELS) return { kind: 'too-many' };
    await storeKeywords(tx, account, { bits: 0, keywords: [name] }, { by: null });
    const { changes } = await tx.run(
      'INSERT INTO label (account_id, name, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      account,
      name,
      now,
    );
    return { kind: changes === 1 ? 'made' : 'exists' };
  },
);

/** Deletes a created label; messages keep the keyword. */
export const removeLabel = command(
  'delete-label',
  async (tx, { account, name }: { account: number; name: string }): Promise<{ kind: 'forgotten' | 'missing' }> => {
    const { changes } = await tx.run('DELETE FROM label WHERE account_id = ? AND name = ?', account, name);
    return { kind: changes === 1 ? 'forgotten' : 'missing' };
  },
);

/**
 * All labels of an account by name with their message counts. Reads every labelled message: run it in a reader thread.
 */
export const countLabels = query(
  'count-labels',
  async (rx, { account }: { account: number }): Promise<{ name: string; messages: number; made: boolean }[]> => {
    const made = await rx.all<{ name: string }>('SELECT name FROM label WHERE account_id = ?', account);
    const slots = await rx.all<{ slot: number; lname: string }>(
      'SELECT slot, lname FROM keyword WHERE account_id = ?',
      account,
    );
    const found = await rx.all<{ flags: number; kw: string | null; messages: number }>(
      `SELECT n.flags & ~31 AS flags, n.kw, count(DISTINCT n.email_id) AS messages
       FROM mailbox m CROSS JOIN entry n INDEXED BY entry_labelled
         ON n.mailbox_id = m.id AND (n.flags & ~31 <> 0 OR n.kw IS NOT NULL)
       WHERE m.account_id = ? AND m.deleted_at IS NULL AND n.flags & ? = 0
       GROUP BY 1, 2`,
      account,
      DELETED,
    );
    const counts = new Map(made.map(({ name }) => [name, 0]));
    for (const { flags, kw, messages } of found) {
      const slotted = slots.filter(({ slot }) => (flags & (1 << slot)) !== 0).map(({ lname }) => lname);
      for (const name of [...slotted, ...kwList(kw)]) counts.set(name, (counts.get(name) ?? 0) + messages);
    }
    const kept = new Set(made.map(({ name }) => name));
    const names = [...counts.keys()].sort();
    return names.map((name) => ({ name, messages: counts.get(name) ?? 0, made: kept.has(name) }));
  },
);
