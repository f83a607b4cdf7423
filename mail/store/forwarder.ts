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
  /** A token set it, and no person has. */
  byProgram: boolean;
}

/** The forwards of an address on a proved domain; `keys` are its forms from most to least exact, `now` is ms UTC. */
export const forwardsOf = query(
  'forwards-of',
  async (rx, { keys, now }: { keys: readonly string[]; now: number }): Promise<Forward[]> => {
    for (const key of keys) {
      const rows = await rx.all<Row>(
        `SELECT f.organization_id, f.source_key, f.destination, f.keep_local, f.pending, f.stopped,
           f.set_by IS NOT NULL AS by_program,
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
  by_program: number;
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
    byProgram: row.by_program === 1,
  };
}

/** Places to which the forwards of some addresses lead; of more nobody knows where they end. */
export const MOST_WAYS = 1000;

/** A forward, or several one after the other, by which mail for an address gets somewhere. */
interface WayOn extends Record<string, string> {
  from: string;
  /** As compared. */
  to: string;
}

/**
 * Where the forwards of these addresses (keys, a +detail is looked past) lead, and those of the places that they lead to:
 * also those that wait to be confirmed or are stopped. {@link MOST_WAYS} and one at most.
 */
export function waysOn(rx: Read, keys: readonly string[]): Promise<WayOn[]> {
  return rx.all<WayOn>(
    `WITH RECURSIVE way (source, at) AS (
       SELECT value, value FROM json_each(?1)
       UNION
       SELECT w.source, f.destination_key FROM way w
         JOIN forwarder f ON f.source_key IN (w.at, substr(w.at, 1, instr(w.at, '+') - 1) || substr(w.at, instr(w.at, '@')))
         JOIN domain d ON d.id = f.domain_id AND d.state = 1
       LIMIT ?2 + json_array_length(?1))
     SELECT source AS "from", at AS "to" FROM way WHERE at <> source`,
    JSON.stringify(keys),
    MOST_WAYS + 1,
  );
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
