import { query, type Read, type Stamp, type Write } from './engine/types.ts';

/** Copies that may go on from one address in a day. */
export const MOST_A_DAY = 2000;
const DAY_MS = 24 * 3_600_000;

/** Where mail for an address goes on to. */
export interface Forward {
  tenant: number;
  /** As looked up; without a +tag. */
  source: string;
  destination: string;
  keepLocal: boolean;
  /** Only an active one passes anything on. */
  state: 'active' | 'pending' | 'stopped';
  /** What its address may send on today does not go round any more. */
  spent: boolean;
}

/** The forwards of an address on a proved domain; `keys` are its forms from most to least exact, `now` is ms UTC. */
export const forwardsOf = query(
  'forwards-of',
  async (rx, { keys, now }: { keys: readonly string[]; now: number }): Promise<Forward[]> => {
    for (const key of keys) {
      const rows = await rx.all<Row>(
        `SELECT f.organization_id, f.source_key, f.destination, f.keep_local, f.pending, f.stopped,
           coalesce((SELECT copies FROM forward_count WHERE day = ? AND source = f.source_key), 0) AS copies
         FROM forwarder f JOIN domain d ON d.id = f.domain_id AND d.state = 1
         WHERE f.source_key = ? ORDER BY f.id LIMIT 100`,
        dayOf(now),
        key,
      );
      if (rows.length > 0) return rows.map((row) => forwardOf(row, rows.length));
    }
    return [];
  },
);

interface Row extends Record<string, string | number> {
  organization_id: number;
  source_key: string;
  destination: string;
  keep_local: number;
  pending: number;
  stopped: number;
  copies: number;
}

function forwardOf(row: Row, together: number): Forward {
  return {
    tenant: row.organization_id,
    source: row.source_key,
    destination: row.destination,
    keepLocal: row.keep_local === 1,
    state: row.stopped === 1 ? 'stopped' : row.pending === 1 ? 'pending' : 'active',
    spent: row.copies + together > MOST_A_DAY,
  };
}

/** Whether one of these addresses would send on more today than it may, with one copy for each time that it is named. */
export async function isSpent(rx: Read, sources: readonly string[], { now }: Stamp): Promise<boolean> {
  for (const source of new Set(sources)) {
    const row = await rx.get<{ copies: number }>(COPIES, dayOf(now), source);
    if ((row?.copies ?? 0) + sources.filter((one) => one === source).length > MOST_A_DAY) return true;
  }
  return false;
}

const COPIES = 'SELECT copies FROM forward_count WHERE day = ? AND source = ?';

/** Counts a copy, in the commit that queues it. Answers whether it is the last one that may go on today. */
export async function countCopy(tx: Write, source: string, { now }: Stamp): Promise<boolean> {
  const day = dayOf(now);
  const row = await tx.get<{ copies: number }>(
    `INSERT INTO forward_count (day, source, copies) VALUES (?, ?, 1)
     ON CONFLICT (day, source) DO UPDATE SET copies = copies + 1 RETURNING copies`,
    day,
    source,
  );
  if (row?.copies === 1) await tx.run('DELETE FROM forward_count WHERE day < ?', day);
  return row?.copies === MOST_A_DAY;
}

/** Days since 1970, UTC. */
function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}
