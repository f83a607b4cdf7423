import type { Read, Stamp, Write } from './engine/types.ts';

/** An alias as a message meets it. */
export interface MetAlias {
  id: number;
  accounts: number[];
  expiresAt: number | null;
  /** Messages that it still takes; null: any number. */
  left: number | null;
}

interface Row extends Record<string, number | null> {
  id: number;
  expires_at: number | null;
  rest: number | null;
}

/** The alias at exactly this address of a domain. */
export async function aliasAt(rx: Read, domain: number, key: string): Promise<MetAlias | undefined> {
  return metAlias(
    rx,
    await rx.get<Row>(
      'SELECT id, expires_at, most - used AS rest FROM alias WHERE key = ? AND domain_id = ? AND wild = 0',
      key,
      domain,
    ),
  );
}

/**
 * The alias with a `*` that an address of a domain fits: of several the one of which most is written out, and so the
 * catch-all last. Beginnings and ends are compared, so the time is that of the number of aliases, whatever is asked for.
 */
export async function wildAlias(rx: Read, domain: number, local: string): Promise<MetAlias | undefined> {
  return metAlias(
    rx,
    await rx.get<Row>(
      `SELECT id, expires_at, most - used AS rest FROM alias
       WHERE domain_id = ?1 AND wild = 1 AND length(?2) >= length(head) + length(tail)
         AND substr(?2, 1, length(head)) = head AND (tail = '' OR substr(?2, -length(tail)) = tail)
       ORDER BY length(head) + length(tail) DESC, length(head) DESC, id LIMIT 1`,
      domain,
      local,
    ),
  );
}

async function metAlias(rx: Read, row: Row | undefined): Promise<MetAlias | undefined> {
  if (row === undefined) return undefined;
  const rows = await rx.all<{ account_id: number }>(
    'SELECT account_id FROM alias_account WHERE alias_id = ? ORDER BY account_id',
    row.id,
  );
  return { id: row.id, accounts: rows.map((one) => one.account_id), expiresAt: row.expires_at, left: row.rest };
}

/** Whether an alias takes nothing more. */
export function isOver({ expiresAt, left }: Pick<MetAlias, 'expiresAt' | 'left'>, now: number): boolean {
  return (expiresAt !== null && expiresAt <= now) || (left !== null && left <= 0);
}

/** Something that came by aliases. */
type ByAliases = readonly { aliases?: readonly number[] }[];

const named = (all: ByAliases): Set<number> => new Set(all.flatMap(({ aliases = [] }) => aliases));

/** Whether an alias by which something came takes nothing more. Asked in the commit that counts, it holds exactly. */
export async function anyOver(rx: Read, all: ByAliases, now: number): Promise<boolean> {
  for (const id of named(all)) {
    const row = await rx.get<Row>('SELECT id, expires_at, most - used AS rest FROM alias WHERE id = ?', id);
    if (row !== undefined && isOver({ expiresAt: row.expires_at, left: row.rest }, now)) return true;
  }
  return false;
}

/** Counts one message for each alias by which it came, in the commit that delivers it. `sender` is the envelope's. */
export async function countUse(tx: Write, all: ByAliases, sender: string, { now }: Stamp): Promise<void> {
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  for (const id of named(all)) {
    await tx.run(
      `UPDATE alias SET used = used + 1, used_at = ?, first_from = CASE WHEN first_from = '' THEN ? ELSE first_from END
       WHERE id = ?`,
      now,
      domain,
      id,
    );
  }
}
