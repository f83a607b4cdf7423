import { lookup } from '../../mail/store/engine/types.ts';
import { type AuditRow, CHAIN_START, chainHash } from '../core/audit-row.ts';

export interface AuditLine extends AuditRow {
  id: number;
  hash: Uint8Array;
}

type Columns = {
  id: number;
  organization_id: number;
  at: number;
  actor: string;
  actor_name: string;
  endpoint: string;
  ip: string;
  operation: string;
  target: string;
  outcome: string;
  detail: string;
  previous: Uint8Array;
  hash: Uint8Array;
};

/** Lists audit rows, newest first; `before` is the id of the last row of the previous page. */
export const listAudit = lookup(
  'list-audit',
  async (rx, input: { organization: number; before: number | null; limit: number }): Promise<AuditLine[]> => {
    const rows = await rx.all<Columns>(
      'SELECT * FROM audit WHERE organization_id = ? AND id < ? ORDER BY id DESC LIMIT ?',
      input.organization,
      input.before ?? Number.MAX_SAFE_INTEGER,
      input.limit,
    );
    return rows.map(lineOf);
  },
);

/** Conditions on audit rows; null: any. */
export interface AuditFilter {
  /** Id or part of the name of the actor. */
  readonly actor: string | null;
  readonly operation: string | null;
  /** Part of the target. */
  readonly target: string | null;
  /** ms UTC. */
  readonly since: number | null;
  readonly before: number | null;
}

/** Lists the audit rows that match, newest first. It may read the whole log of the organization: call it by a scan. */
export const searchAudit = lookup(
  'search-audit',
  async (
    rx,
    input: { organization: number; before: number | null; limit: number; filter: AuditFilter },
  ): Promise<AuditLine[]> => {
    const { actor, operation, target, since, before } = input.filter;
    const rows = await rx.all<Columns>(
      `SELECT * FROM audit WHERE organization_id = ?1 AND id < ?2
         AND (?4 IS NULL OR actor = ?4 OR instr(lower(actor_name), lower(?4)) > 0)
         AND (?5 IS NULL OR operation = ?5) AND (?6 IS NULL OR instr(lower(target), lower(?6)) > 0)
         AND (?7 IS NULL OR at >= ?7) AND (?8 IS NULL OR at < ?8)
       ORDER BY id DESC LIMIT ?3`,
      input.organization,
      input.before ?? Number.MAX_SAFE_INTEGER,
      input.limit,
      actor,
      operation,
      target,
      since,
      before,
    );
    return rows.map(lineOf);
  },
);

/** Rows that a count reads at most, the newest: an older part of the period is left out. */
const MAX_COUNTED = 50_000;

/** Counts what tokens did since `from`, ms UTC, by hour. */
export const agentActs = lookup(
  'agent-acts',
  (rx, input: { organization: number; from: number }): Promise<{ hour: number; n: number }[]> =>
    rx.all(
      `SELECT at / 3600000 AS hour, count(*) AS n
       FROM (SELECT at, actor FROM audit WHERE organization_id = ? ORDER BY id DESC LIMIT ${MAX_COUNTED})
       WHERE at >= ? AND substr(actor, 1, 4) = 'tok_' GROUP BY 1 ORDER BY 1`,
      input.organization,
      input.from,
    ),
);

/** Finds the first row whose hash chain is broken; undefined if none. Scans the log. */
export const firstBrokenAuditRow = lookup(
  'broken-audit',
  async (rx, input: { organization: number }): Promise<number | undefined> => {
    const rows = await rx.all<Columns>('SELECT * FROM audit WHERE organization_id = ? ORDER BY id', input.organization);
    let previous: Uint8Array = CHAIN_START;
    for (const row of rows) {
      const follows = Buffer.from(row.previous).equals(previous) && chainHash(previous, lineOf(row)).equals(row.hash);
      if (!follows) return row.id;
      previous = row.hash;
    }
    return undefined;
  },
);

function lineOf(row: Columns): AuditLine {
  return {
    id: row.id,
    organization: row.organization_id,
    at: row.at,
    actor: row.actor,
    actorName: row.actor_name,
    way: row.endpoint as AuditRow['way'],
    ip: row.ip,
    operation: row.operation,
    target: row.target,
    outcome: row.outcome,
    detail: JSON.parse(row.detail) as AuditRow['detail'],
    hash: row.hash,
  };
}
