import { query } from '../../mail/store/engine/types.ts';
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
export const listAudit = query(
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

/** Finds the first row whose hash chain is broken; undefined if none. Scans the log. */
export const firstBrokenAuditRow = query(
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
