import { command, query, type Stamp, type Write } from './engine/types.ts';
import { wake } from './listener.ts';

/**
 * A notice is in line for so many attempts, and those behind it wait: what arrived first is told first. One that still
 * fails then is set aside, so that a message that a receiver chokes on does not keep it from all others.
 */
const IN_LINE = 4;

/** How long notices are kept, told or not. */
export const KEEP_NOTICES_MS = 30 * 24 * 3_600_000;
const SLICE = 400;

export interface Notice {
  id: number;
  event: string;
  account: number | null;
  email: number | null;
  trace: string;
  detail: Record<string, unknown>;
  at: number;
  attempts: number;
  /** Octets of the message that arrived; 0 when it is gone, or nothing arrived. */
  size: number;
}

/** What a listener is to be told now, in the order in which to tell it. */
export const dueNotices = query(
  'due-notices',
  async (rx, input: { listener: number; now: number; limit: number }): Promise<Notice[]> => {
    const aside = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM notice n LEFT JOIN email e ON e.id = n.email_id
       WHERE n.listener_id = ? AND n.state = 1 AND n.next_at <= ? ORDER BY n.next_at LIMIT 1`,
      input.listener,
      input.now,
    );
    const line = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM notice n LEFT JOIN email e ON e.id = n.email_id
       WHERE n.listener_id = ? AND n.state = 0 ORDER BY n.id LIMIT ?`,
      input.listener,
      input.limit - aside.length,
    );
    // The first who has to wait stops all behind it.
    const stop = line.findIndex((row) => row.next_at > input.now);
    return [...aside, ...(stop === -1 ? line : line.slice(0, stop))].map(toNotice);
  },
);

type Columns = {
  id: number;
  event: string;
  account: number | null;
  email: number | null;
  trace: string;
  detail: string;
  at: number;
  attempts: number;
  next_at: number;
  size: number;
};

const COLUMNS = `n.id, n.event, n.account_id AS account, n.email_id AS email, n.trace, n.detail, n.at, n.attempts,
  n.next_at, coalesce(e.size, 0) AS size`;

function toNotice({ next_at: _, detail, ...row }: Columns): Notice {
  return { ...row, detail: JSON.parse(detail) as Record<string, unknown> };
}

export type NoticeEnd = { kind: 'told' } | { kind: 'later'; at: number } | { kind: 'dead' };

/** Ends an attempt: told, to be tried again at a time, or given up. */
export async function endNotice(tx: Write, { id, end }: { id: number; end: NoticeEnd }, stamp: Stamp): Promise<void> {
  await tx.run(
    `UPDATE notice SET attempts = attempts + 1, next_at = ?,
       state = CASE ? WHEN 'told' THEN 2 WHEN 'dead' THEN 3 ELSE attempts + 1 >= ${IN_LINE} END
     WHERE id = ? AND state < 2`,
    end.kind === 'later' ? end.at : stamp.now,
    end.kind,
    id,
  );
}

/** Tells a listener of a message that is stored, once more. */
export const tellOfEmail = command(
  'tell-of-email',
  async (
    tx,
    input: { listener: number; account: number; email: number },
    stamp,
  ): Promise<{ kind: 'noted'; id: number } | { kind: 'missing' }> => {
    const { changes, id } = await tx.run(
      `INSERT INTO notice (listener_id, event, account_id, email_id, trace, detail, at, copy_of, next_at)
       SELECT ?, 'received', e.account_id, e.id, '', '{}', ?, 0, ? FROM email e WHERE e.id = ? AND e.account_id = ?`,
      input.listener,
      stamp.now,
      stamp.now,
      input.email,
      input.account,
    );
    if (changes === 0) return { kind: 'missing' };
    wake(tx, input.account);
    return { kind: 'noted', id };
  },
);

export interface Range {
  listener: number;
  /** Of what happened, ms UTC; `until` is not in it. */
  since: number;
  until: number;
  /** Notices up to this one were done by the slice before. */
  after: number;
  /** Notices that came later are not in it: those of the replay itself among them. */
  upTo: number;
}

/**
 * Tells a slice of what a listener was told, or was not in the end, once more. What was given up comes back under its
 * own id, as nobody confirmed it; what was told gets a new one. `after` is what the next slice begins behind.
 */
export const replayNotices = command(
  'replay-notices',
  async (tx, input: Range, stamp): Promise<{ kind: 'replayed' | 'none'; count: number; after: number | null }> => {
    const rows = await tx.all<{ id: number; state: number }>(
      `SELECT id, state FROM notice
       WHERE listener_id = ? AND state IN (2, 3) AND copy_of IS NULL AND id > ? AND id <= ? AND at >= ? AND at < ?
       ORDER BY id LIMIT ?`,
      input.listener,
      input.after,
      input.upTo,
      input.since,
      input.until,
      SLICE,
    );
    for (const { id, state } of rows) await again(tx, id, state, stamp);
    if (rows.length > 0) wake(tx, null);
    const after = rows.length === SLICE ? (rows.at(-1)?.id ?? null) : null;
    return { kind: rows.length > 0 ? 'replayed' : 'none', count: rows.length, after };
  },
);

/** Tells one notice of a listener once more; answers under which id. */
export const replayNotice = command(
  'replay-notice',
  async (
    tx,
    input: { listener: number; id: number },
    stamp,
  ): Promise<{ kind: 'noted'; id: number } | { kind: 'missing' }> => {
    const row = await tx.get<{ state: number }>(
      'SELECT state FROM notice WHERE id = ? AND listener_id = ?',
      input.id,
      input.listener,
    );
    if (row === undefined) return { kind: 'missing' };
    const id = await again(tx, input.id, row.state, stamp);
    wake(tx, null);
    return { kind: 'noted', id };
  },
);

const TOLD = 2;

async function again(tx: Write, id: number, state: number, stamp: Stamp): Promise<number> {
  if (state !== TOLD) {
    await tx.run('UPDATE notice SET state = 0, attempts = 0, next_at = ? WHERE id = ?', stamp.now, id);
    return id;
  }
  const copy = await tx.run(
    `INSERT INTO notice (listener_id, event, account_id, email_id, trace, detail, at, copy_of, next_at)
     SELECT listener_id, event, account_id, email_id, trace, detail, at, id, ? FROM notice WHERE id = ?`,
    stamp.now,
    id,
  );
  return copy.id;
}

/** The newest id that was given: nothing that comes later is above it. */
export const newestNotice = query('newest-notice', async (rx): Promise<number> => {
  const row = await rx.get<{ id: number | null }>('SELECT max(id) AS id FROM notice');
  return row?.id ?? 0;
});

/** What was given up of a listener, newest first, before `before`. */
export const deadNotices = query(
  'dead-notices',
  async (rx, input: { listener: number; before: number; limit: number }): Promise<(Notice & { diedAt: number })[]> => {
    const rows = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM notice n LEFT JOIN email e ON e.id = n.email_id
       WHERE n.listener_id = ? AND n.state = 3 AND n.id < ? ORDER BY n.id DESC LIMIT ?`,
      input.listener,
      input.before,
      input.limit,
    );
    return rows.map((row) => ({ ...toNotice(row), diedAt: row.next_at }));
  },
);

/** How many notices of a listener wait, and how many were given up; at most 1,000 of each are counted. */
export const countNotices = query(
  'count-notices',
  async (rx, input: { listener: number }): Promise<{ waiting: number; dead: number }> => {
    const row = await rx.get<{ waiting: number; dead: number }>(
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM notice WHERE listener_id = ?1 AND state IN (0, 1) LIMIT 1000)) AS waiting,
              (SELECT count(*) FROM (SELECT 1 FROM notice WHERE listener_id = ?1 AND state = 3 LIMIT 1000)) AS dead`,
      input.listener,
    );
    return row ?? { waiting: 0, dead: 0 };
  },
);

/** Forgets a slice of old notices; answers whether there may be more. Ids grow with time. */
export const forgetNotices = command('forget-notices', async (tx, input: { before: number }): Promise<boolean> => {
  const { changes } = await tx.run(
    'DELETE FROM notice WHERE id IN (SELECT id FROM (SELECT id, at FROM notice ORDER BY id LIMIT ?2) WHERE at < ?1)',
    input.before,
    SLICE,
  );
  return changes === SLICE;
});

/** A listener that is off keeps so many notices at most: this takes a slice of the oldest beyond them. */
export const trimNotices = command(
  'trim-notices',
  async (tx, input: { listener: number; keep: number }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM notice WHERE id IN (SELECT id FROM notice WHERE listener_id = ?1 AND state = 0 AND id <=
         (SELECT id FROM notice WHERE listener_id = ?1 AND state = 0 ORDER BY id DESC LIMIT 1 OFFSET ?2)
         ORDER BY id LIMIT ?3)`,
      input.listener,
      input.keep,
      SLICE,
    );
    return changes === SLICE;
  },
);

export const listenersOff = query('listeners-off', async (rx): Promise<number[]> => {
  const rows = await rx.all<{ id: number }>('SELECT id FROM listener WHERE off_at IS NOT NULL ORDER BY id LIMIT 1000');
  return rows.map((row) => row.id);
});
