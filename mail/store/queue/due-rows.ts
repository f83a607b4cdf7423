import { lookup, query, type Read } from '../engine/types.ts';
import type { QueueRow } from './queue-rows.ts';

// `LIMIT ? + 0`: for a bare parameter SQLite plans by its value, and prepares the statement again on each bind, which
// costs more than the read.

/** Maximum senders of one read. */
const MAX_SENDERS_SCANNED = 50;

// Columns of QueueRow, as in queue-rows.ts, and of its lane; statements consist of constants of their own file.
const COLUMNS = `q.id, s.trace, q.submission_id, s.blob_id, s.account_id, s.sender, q.recipient, q.domain, q.state,
  q.hold_reason, q.attempts, q.created_at, q.next_at, s.smtputf8, s.eight_bit, q.notify, q.orcpt, s.envid, s.sign_as, s.signers, s.arc, s.ret, s.size,
  q.dsn_sent, q.last_at, q.last_status, q.last_text, q.last_tls, s.require_tls, q.route, q.lane_id, l.owner, l.tenant`;

/** Parameters of one read of due rows. */
export interface DueRowsPage {
  now: number;
  /** Maximum rows; one sender may use all. */
  limit: number;
  /** Lanes with rows in memory already. */
  lanes: readonly number[];
  /** Senders with their share in memory. */
  owners: readonly number[];
  /** Start after this sender; undefined: with the first. */
  after: number | undefined;
}

/** A due row: {@link QueueRow} with its sender for fair scheduling. */
export interface DueRow extends QueueRow {
  lane_id: number;
  owner: number;
  tenant: number;
}

/**
 * Due rows by sender, the longest due lanes first. Rows due after `horizon` are included: they were written before the
 * clock was set back. `next`: the sender after which to continue, undefined at the end. Rows that are not due cost
 * nothing: a read scans one index range a sender and the returned rows.
 */
export const dueRows = query(
  'due-rows',
  async (rx, input: DueRowsPage & { horizon: number }): Promise<{ rows: DueRow[]; next: number | undefined }> => {
    const { now, horizon, limit } = input;
    const walked = await nextSenders(rx, input.after);
    const full = new Set(input.owners);
    const senders = walked.filter(({ owner }) => !full.has(owner));
    const lanes = JSON.stringify(input.lanes);
    const due = { from: 0, to: now };
    const astray = { from: horizon, to: Number.MAX_SAFE_INTEGER };
    const begun = senders.filter(({ head }) => (head ?? Infinity) <= now);
    const rows = await stretch(rx, { senders: begun, lanes, lane: due, row: due, limit });
    if (rows.length >= limit) return { rows, next: rows.at(-1)?.owner };
    const later = { lanes, row: astray };
    rows.push(...(await stretch(rx, { ...later, senders: begun, lane: due, limit: limit - rows.length })));
    const ahead = senders.filter(({ tail }) => (tail ?? 0) > horizon);
    rows.push(...(await stretch(rx, { ...later, senders: ahead, lane: astray, limit: limit - rows.length })));
    return { rows, next: walked.length < MAX_SENDERS_SCANNED ? undefined : walked.at(-1)?.owner };
  },
);

interface QueuedSender extends Record<string, number | null> {
  owner: number;
  /** Due times of its first and last lane; null: all are held. */
  head: number | null;
  tail: number | null;
}

/** Skips through the index from sender to sender. */
function nextSenders(rx: Read, after = Number.MIN_SAFE_INTEGER): Promise<QueuedSender[]> {
  return rx.all<QueuedSender>(
    `WITH RECURSIVE sender (owner) AS (
       SELECT min(owner) FROM queue_lane WHERE owner > ?
       UNION ALL
       SELECT (SELECT min(owner) FROM queue_lane WHERE owner > sender.owner) FROM sender WHERE owner IS NOT NULL)
     SELECT owner, (SELECT min(next_at) FROM queue_lane l WHERE l.owner = sender.owner) AS head,
       (SELECT max(next_at) FROM queue_lane l WHERE l.owner = sender.owner) AS tail
     FROM sender WHERE owner IS NOT NULL LIMIT ? + 0`,
    after,
    MAX_SENDERS_SCANNED,
  );
}

/** Ranges of due times: of the lane and of its rows. */
interface Stretch {
  senders: readonly QueuedSender[];
  lanes: string;
  lane: { from: number; to: number };
  row: { from: number; to: number };
  limit: number;
}

/** Rows whose due time and lane are in the ranges, sender by sender: PostgreSQL would join them in another order. */
async function stretch(rx: Read, input: Stretch): Promise<DueRow[]> {
  const rows: DueRow[] = [];
  for (const { owner } of input.senders) {
    const left = input.limit - rows.length;
    if (left <= 0) break;
    rows.push(...inOrder(await rowsOfSender(rx, owner, { ...input, limit: left })));
  }
  return rows;
}

/** The joins are in their execution order; an OR of several ranges would read everything between them. */
function rowsOfSender(rx: Read, owner: number, { lane, row, lanes, limit }: Stretch): Promise<DueRow[]> {
  return rx.all<DueRow>(
    `SELECT ${COLUMNS} FROM queue_lane l INDEXED BY queue_lane_owner
       CROSS JOIN queue q INDEXED BY queue_lane_rows
         ON q.lane_id = l.id AND q.state = 0 AND q.next_at > ? AND q.next_at <= ?
       CROSS JOIN submission s ON s.id = q.submission_id
     WHERE l.owner = ? AND l.next_at > ? AND l.next_at <= ? AND l.id NOT IN (SELECT value FROM json_each(?))
     ORDER BY l.next_at LIMIT ? + 0`,
    row.from,
    row.to,
    owner,
    lane.from,
    lane.to,
    lanes,
    limit,
  );
}

/**
 * Rows of a lane by their due times, and those of one time as they were queued. An index of SQLite has the rows of one time in
 * the order of their ids, one of PostgreSQL as they lie in the table.
 */
function inOrder(rows: readonly DueRow[]): DueRow[] {
  const lanes = new Map<number, number>();
  for (const { lane_id: lane } of rows) if (!lanes.has(lane)) lanes.set(lane, lanes.size);
  const rank = ({ lane_id: lane }: DueRow): number => lanes.get(lane) ?? 0;
  return rows.toSorted((a, b) => rank(a) - rank(b) || a.next_at - b.next_at || a.id - b.id);
}

export const nextDue = lookup('next-due', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ at: number | null }>('SELECT min(next_at) AS at FROM queue_lane');
  return row?.at ?? undefined;
});
