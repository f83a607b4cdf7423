import type { Read, Write } from './engine/types.ts';

/**
 * Mail to these has left: nobody can make an agent believe that it knows them. `owner`: an account, or minus the tenant
 * for what its programs send.
 */
export async function reach(tx: Write, owner: number, keys: readonly string[], now: number): Promise<void> {
  await tx.run(
    `INSERT INTO correspondent (account_id, key, since, reached_at) SELECT ?1, value, ?3, ?3 FROM json_each(?2) WHERE true
     ON CONFLICT (account_id, key) DO UPDATE SET reached_at = ?3 WHERE reached_at IS NULL`,
    owner,
    JSON.stringify(keys),
    now,
  );
}

/** Which of these mail had left to before a time, ms UTC. */
export async function reachedBefore(
  rx: Read,
  owner: number,
  keys: readonly string[],
  before: number,
): Promise<ReadonlySet<string>> {
  const rows = await rx.all<{ key: string }>(
    `SELECT c.key FROM json_each(?2) k CROSS JOIN correspondent c ON c.key = k.value AND c.account_id = ?1
     WHERE c.reached_at < ?3`,
    owner,
    JSON.stringify(keys),
    before,
  );
  return new Set(rows.map(({ key }) => key));
}
