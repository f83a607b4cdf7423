import { query, type Read, type Stamp, type Write } from '../engine/types.ts';

/** Limit of copies forwarded from one address in a day. */
export const MAX_FORWARDS_A_DAY = 2000;
const DAY_MS = 24 * 3_600_000;

/** A forward of an address. */
export interface Forward {
  tenant: number;
  /** Lookup key without +tag. */
  source: string;
  destination: string;
  keepLocal: boolean;
  /** Only `active` forwards mail. */
  state: 'active' | 'pending' | 'stopped';
  /** The daily limit of the source is too low for one more copy to each destination. */
  spent: boolean;
  /** Created by a token, not confirmed by a person. */
  byProgram: boolean;
}

/** The forwards of an address on a verified domain. `keys` are its forms from most to least exact, `now` is ms UTC. */
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

function forwardOf(row: Row, copies: number): Forward {
  return {
    tenant: row.organization_id,
    source: row.source_key,
    destination: row.destination,
    keepLocal: row.keep_local === 1,
    state: row.stopped === 1 ? 'stopped' : row.pending === 1 ? 'pending' : 'active',
    spent: row.copies + copies > MAX_FORWARDS_A_DAY,
    byProgram: row.by_program === 1,
  };
}

/** Limit of forward targets that are followed. */
export const MAX_FORWARD_TARGETS = 1000;

/** A source address and a target that its mail reaches through one or more forwards. */
interface ForwardTarget extends Record<string, string> {
  from: string;
  /** Lookup key. */
  to: string;
}

/**
 * Targets of the forwards of these addresses (keys; +detail is ignored), transitively, including pending and stopped
 * forwards. At most {@link MAX_FORWARD_TARGETS} and one.
 */
export function forwardTargets(rx: Read, keys: readonly string[]): Promise<ForwardTarget[]> {
  return rx.all<ForwardTarget>(
    `WITH RECURSIVE way (source, at) AS (
       SELECT value, value FROM json_each(?1, '$')
       UNION
       SELECT w.source, f.destination_key FROM way w
         JOIN forwarder f ON f.source_key IN (w.at, substr(w.at, 1, instr(w.at, '+') - 1) || substr(w.at, instr(w.at, '@')))
         JOIN domain d ON d.id = f.domain_id AND d.state = 1)
     SELECT source AS "from", at AS "to" FROM way WHERE at <> source LIMIT ?2 + 0`,
    JSON.stringify(keys),
    MAX_FORWARD_TARGETS + 1,
  );
}

/** Reports whether one of these addresses would exceed its daily limit, with one copy for each time it is named. */
export async function isForwardLimitReached(rx: Read, sources: readonly string[], { now }: Stamp): Promise<boolean> {
  for (const source of new Set(sources)) {
    const row = await rx.get<{ copies: number }>(COPIES, dayOf(now), source);
    if ((row?.copies ?? 0) + sources.filter((one) => one === source).length > MAX_FORWARDS_A_DAY) return true;
  }
  return false;
}

const COPIES = 'SELECT copies FROM forward_count WHERE day = ? AND source = ?';

/** Counts a copy, in the commit that queues it. Returns whether it is the last one allowed today. */
export async function countForwardedCopy(tx: Write, source: string, { now }: Stamp): Promise<boolean> {
  const day = dayOf(now);
  const row = await tx.get<{ copies: number }>(
    `INSERT INTO forward_count (day, source, copies) VALUES (?, ?, 1)
     ON CONFLICT (day, source) DO UPDATE SET copies = forward_count.copies + 1 RETURNING copies`,
    day,
    source,
  );
  if (row?.copies === 1) await tx.run('DELETE FROM forward_count WHERE day < ?', day);
  return row?.copies === MAX_FORWARDS_A_DAY;
}

/** Days since 1970, UTC. */
function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}
