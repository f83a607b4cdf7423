import { command, lookup, type Write } from '../engine/types.ts';

/** Names that one account keeps. */
const MAX_NAMES = 2_000;

/** Names of deleted mailboxes that are still subscribed, in order. RFC 3501 6.3.9. */
export const formerSubscriptions = lookup(
  'former-subscriptions',
  async (rx, { account }: { account: number }): Promise<string[]> => {
    const rows = await rx.all<{ name: string }>(
      'SELECT name FROM former_subscription WHERE account_id = ? ORDER BY name',
      account,
    );
    return rows.map(({ name }) => name);
  },
);

/** Subscribes the mailboxes of a renamed subtree whose new names were subscribed. RFC 3501 6.3.9. */
export async function subscribeRenamed(
  tx: Write,
  { account, top, modseq }: { account: number; top: string; modseq: number },
  idOf: (name: string) => Promise<number | undefined>,
): Promise<void> {
  const rows = await tx.all<{ name: string }>('SELECT name FROM former_subscription WHERE account_id = ?', account);
  for (const { name } of rows) {
    const id = name === top || name.startsWith(`${top}/`) ? await idOf(name) : undefined;
    if (id === undefined) continue;
    await takeFormerSubscription(tx, account, name);
    await tx.run('UPDATE mailbox SET subscribed = 1, modseq = ? WHERE id = ?', modseq, id);
  }
}

/** Removes the subscription of a name without a mailbox. */
export const dropFormerSubscription = command(
  'drop-former-subscription',
  async (tx, { account, name }: { account: number; name: string }): Promise<'done' | 'missing'> =>
    (await takeFormerSubscription(tx, account, name)) ? 'done' : 'missing',
);

/** Keeps the subscription of a mailbox that is deleted. */
export async function keepSubscription(tx: Write, account: number, id: number, name: string): Promise<void> {
  await tx.run(
    `INSERT INTO former_subscription (account_id, name) SELECT ?1, ?2 FROM mailbox WHERE id = ?3 AND subscribed = 1
     AND (SELECT count(*) FROM former_subscription WHERE account_id = ?1) < ?4 ON CONFLICT DO NOTHING`,
    account,
    name,
    id,
    MAX_NAMES,
  );
}

/** Forgets a former subscription; reports whether there was one. */
export async function takeFormerSubscription(tx: Write, account: number, name: string): Promise<boolean> {
  const taken = await tx.run('DELETE FROM former_subscription WHERE account_id = ? AND name = ?', account, name);
  return taken.changes > 0;
}
