import { query } from './engine/types.ts';

/** Where mail for an address goes on to. */
export interface Forward {
  tenant: number;
  /** As looked up; without a +tag. */
  source: string;
  destination: string;
  keepLocal: boolean;
}

/** The forwards of an address on a proved domain; `keys` are its forms from most to least exact. */
export const forwardsOf = query('forwards-of', async (rx, input: { keys: readonly string[] }): Promise<Forward[]> => {
  for (const key of input.keys) {
    const rows = await rx.all<{ organization_id: number; source_key: string; destination: string; keep_local: number }>(
      `SELECT f.organization_id, f.source_key, f.destination, f.keep_local FROM forwarder f
         JOIN domain d ON d.id = f.domain_id AND d.state = 1 WHERE f.source_key = ? ORDER BY f.id LIMIT 100`,
      key,
    );
    if (rows.length === 0) continue;
    return rows.map((row) => ({
      tenant: row.organization_id,
      source: row.source_key,
      destination: row.destination,
      keepLocal: row.keep_local === 1,
    }));
  }
  return [];
});
