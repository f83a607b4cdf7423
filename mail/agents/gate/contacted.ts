import type { Read, Write } from '../../store/engine/types.ts';

/**
 * Records that mail to these addresses left: forged mail cannot make them known. `owner`: an account, or minus the tenant
 * for its programs. A key may be there twice, as a message may name a recipient twice: PostgreSQL refuses a statement that
 * changes a row twice.
 */
export async function recordContacted(tx: Write, owner: number, keys: readonly string[], now: number): Promise<void> {
  await tx.run(
    `INSERT INTO correspondent (account_id, key, since, contacted_at) SELECT ?1, value, ?3, ?3 FROM json_each(?2, '$') WHERE true
     ON CONFLICT (account_id, key) DO UPDATE SET contacted_at = ?3 WHERE correspondent.contacted_at IS NULL`,
    owner,
    JSON.stringify([...new Set(keys)]),
    now,
  );
}

/** Addresses that were sent mail before a time, ms UTC. */
export async function contactedBefore(
  rx: Read,
  owner: number,
  keys: readonly string[],
  before: number,
): Promise<ReadonlySet<string>> {
  const rows = await rx.all<{ key: string }>(
    `SELECT c.key FROM json_each(?2, '$') k CROSS JOIN correspondent c ON c.key = k.value AND c.account_id = ?1
     WHERE c.contacted_at < ?3`,
    owner,
    JSON.stringify(keys),
    before,
  );
  return new Set(rows.map(({ key }) => key));
}
