import type { Read, Stamp, Write } from '../engine/types.ts';

/** An alias that matches a recipient. */
export interface MatchedAlias {
  id: number;
  accounts: number[];
  expiresAt: number | null;
  /** Number of messages that it still accepts; null: unlimited. */
  remaining: number | null;
}

interface Row extends Record<string, number | null> {
  id: number;
  expires_at: number | null;
  rest: number | null;
}

/** The alias at exactly this address of a domain. */
export async function aliasAt(rx: Read, domain: number, key: string): Promise<MatchedAlias | undefined> {
  return matchedAlias(
    rx,
    await rx.get<Row>(
      'SELECT id, expires_at, max_messages - used AS rest FROM alias WHERE key = ? AND domain_id = ? AND wildcard = 0',
      key,
      domain,
    ),
  );
}

/**
 * The wildcard alias that matches an address of a domain: the most specific pattern wins, so the catch-all is last.
 * Compares prefixes and suffixes, so the time depends only on the number of aliases.
 */
export async function wildcardAlias(rx: Read, domain: number, local: string): Promise<MatchedAlias | undefined> {
  return matchedAlias(
    rx,
    await rx.get<Row>(
      `SELECT id, expires_at, max_messages - used AS rest FROM alias
       WHERE domain_id = ?1 AND wildcard = 1 AND length(?2) >= length(head) + length(tail)
         AND substr(?2, 1, length(head)) = head AND (tail = '' OR substr(?2, -length(tail)) = tail)
       ORDER BY length(head) + length(tail) DESC, length(head) DESC, id LIMIT 1`,
      domain,
      local,
    ),
  );
}

async function matchedAlias(rx: Read, row: Row | undefined): Promise<MatchedAlias | undefined> {
  if (row === undefined) return undefined;
  const rows = await rx.all<{ account_id: number }>(
    'SELECT account_id FROM alias_account WHERE alias_id = ? ORDER BY account_id',
    row.id,
  );
  return { id: row.id, accounts: rows.map((one) => one.account_id), expiresAt: row.expires_at, remaining: row.rest };
}

/** Reports whether an alias is expired or used up. */
export function isAliasExhausted(
  { expiresAt, remaining: left }: Pick<MatchedAlias, 'expiresAt' | 'remaining'>,
  now: number,
): boolean {
  return (expiresAt !== null && expiresAt <= now) || (left !== null && left <= 0);
}

/** Recipients with the aliases that matched them. */
type ByAliases = readonly { aliases?: readonly number[] }[];

function named(all: ByAliases): Set<number> {
  const ids = new Set<number>();
  for (const { aliases = [] } of all) for (const id of aliases) ids.add(id);
  return ids;
}

/** Reports whether a matched alias is expired or used up. Exact if called in the commit that counts. */
export async function hasExhaustedAlias(rx: Read, all: ByAliases, now: number): Promise<boolean> {
  for (const id of named(all)) {
    const row = await rx.get<Row>('SELECT id, expires_at, max_messages - used AS rest FROM alias WHERE id = ?', id);
    if (row !== undefined && isAliasExhausted({ expiresAt: row.expires_at, remaining: row.rest }, now)) return true;
  }
  return false;
}

/** Counts one message for each matched alias, in the commit that delivers it. `sender` is the envelope sender. */
export async function countAliasUse(tx: Write, all: ByAliases, sender: string, { now }: Stamp): Promise<void> {
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  for (const id of named(all)) {
    await tx.send(
      `UPDATE alias SET used = used + 1, used_at = ?, first_from = CASE WHEN first_from = '' THEN ? ELSE first_from END
       WHERE id = ?`,
      now,
      domain,
      id,
    );
  }
}
