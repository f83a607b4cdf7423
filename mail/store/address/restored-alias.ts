import type { Read, Write } from '../engine/types.ts';
import { isAlias, MAX_ALIASES, numberOfAliases } from './alias.ts';
import type { StoredAlias } from './stored-alias.ts';

/** Tests if the domain of a deleted alias still exists, its address is free, and the limit is not reached. */
export async function canRestoreAlias(
  rx: Read,
  { tenant, domain_id: domain, key }: Pick<StoredAlias, 'tenant' | 'domain_id' | 'key'>,
): Promise<boolean> {
  const mine = await rx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', domain, tenant);
  const taken = await rx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', key, domain);
  if (mine === undefined || taken !== undefined || (await isAlias(rx, domain, key))) return false;
  return (await numberOfAliases(rx, tenant)) < MAX_ALIASES;
}

/** Writes an alias as it was, without its accounts. One that exists keeps the count of messages received meanwhile. */
export async function writeAlias(tx: Write, row: StoredAlias): Promise<void> {
  await tx.run(
    `INSERT INTO alias (id, tenant, domain_id, key, wildcard, head, tail, note, expires_at, max_messages, used, used_at, first_from,
       created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET note = excluded.note, expires_at = excluded.expires_at, max_messages = excluded.max_messages`,
    row.id,
    row.tenant,
    row.domain_id,
    row.key,
    row.wildcard,
    row.head,
    row.tail,
    row.note,
    row.expires_at,
    row.max_messages,
    row.used,
    row.used_at,
    row.first_from,
    row.created_at,
  );
}
