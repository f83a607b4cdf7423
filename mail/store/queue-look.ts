import { query, type Read } from './engine/types.ts';
import type { QueueRow } from './queue-rows.ts';

// `LIMIT ? + 0`: SQLite plans for the value of a bare parameter there, and prepares the statement anew each time that it
// is bound, which costs more than the look.

/** Senders that one look walks over. */
const MOST_SENDERS = 50;

// All of a QueueRow, as in queue.ts, and its lane: statements are made of constants of their own file.
const COLUMNS = `q.id, s.trace, q.submission_id, s.blob_id, s.account_id, s.sender, q.recipient, q.domain, q.state,
  q.held_because, q.attempts, q.created_at, q.next_at, s.smtputf8, s.eight_bit, q.notify, q.orcpt, s.envid, s.sign_as, s.signers, s.arc, s.ret, s.size,
  q.delay_told, q.last_at, q.last_status, q.last_text, q.last_tls, s.require_tls, q.route, q.lane_id, l.owner, l.tenant`;

/** One look at what is due. */
export interface Look {
  now: number;
  /** Rows at most; each sender that is met may fill them. */
  limit: number;
  /** Lanes that have rows in memory already. */
  lanes: readonly number[];
  /** Senders that have their share in memory. */
  owners: readonly number[];
  /** Goes on behind this sender; undefined begins with the first. */
  after: number | undefined;
}

/** A row as it is sent: {@link QueueRow} with whose turn it takes. */
export interface DueRow extends QueueRow {
  lane_id: number;
  owner: number;
  tenant: number;
}

/**
 * Due rows, sender after sender, of each the lanes that wait longest; rows due beyond `horizon` count as well: a clock
 * that has been set back since wrote them. `next` is the sender behind which the next look goes on, undefined at the
 * end. What waits costs nothing: a look reads one stretch of an index a sender, and the rows that it answers.
 */
export const dueRows = query(
  'due-rows',
  async (rx, input: Look & { horizon: number }): Promise<{ rows: DueRow[]; next: number | undefined }> => {
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
    return { rows, next: walked.length < MOST_SENDERS ? undefined : walked.at(-1)?.owner };
  },
);

interface QueuedSender extends Record<string, number | null> {
  owner: number;
  /** When the first of its lanes is due, and the last; null when all is held. */
  head: number | null;
  tail: number | null;
}

/** A walk over the index from sender to sender, past all that each has. */
function nextSenders(rx: Read, after = Number.MIN_SAFE_INTEGER): Promise<QueuedSender[]> {
  return rx.all<QueuedSender>(
    `WITH RECURSIVE sender (owner) AS (
       SELECT min(owner) FROM queue_lane WHERE owner > ?
       UNION ALL
       SELECT (SELECT min(owner) FROM queue_lane WHERE owner > sender.owner) FROM sender WHERE owner IS NOT NULL
       LIMIT ? + 0)
     SELECT owner, (SELECT min(next_at) FROM queue_lane l WHERE l.owner = sender.owner) AS head,
       (SELECT max(next_at) FROM queue_lane l WHERE l.owner = sender.owner) AS tail
     FROM sender WHERE owner IS NOT NULL`,
    after,
    MOST_SENDERS,
  );
}

/**
 * Rows whose time and whose lane's time lie in the stretches, sender after sender. The joins stand in the order in which
 * they are to run; an OR of several stretches would read all that lies between them.
 */
async function stretch(
  rx: Read,
  input: {
    senders: readonly QueuedSender[];
    lanes: string;
    lane: { from: number; to: number };
    row: { from: number; to: number };
    limit: number;
  },
): Promise<DueRow[]> {
  if (input.senders.length === 0) return [];
  return rx.all<DueRow>(
    `SELECT ${COLUMNS} FROM json_each(?) o
       CROSS JOIN queue_lane l INDEXED BY queue_lane_owner ON l.owner = o.value AND l.next_at > ? AND l.next_at <= ?
       CROSS JOIN queue q INDEXED BY queue_lane_rows
         ON q.lane_id = l.id AND q.state = 0 AND q.next_at > ? AND q.next_at <= ?
       CROSS JOIN submission s ON s.id = q.submission_id
     WHERE l.id NOT IN (SELECT value FROM json_each(?)) LIMIT ? + 0`,
    JSON.stringify(input.senders.map(({ owner }) => owner)),
    input.lane.from,
    input.lane.to,
    input.row.from,
    input.row.to,
    input.lanes,
    input.limit,
  );
}

export const nextDue = query('next-due', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ at: number | null }>('SELECT min(next_at) AS at FROM queue_lane');
  return row?.at ?? undefined;
});
