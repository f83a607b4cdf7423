import { command, lookup, query, type Stamp, type Write } from '../engine/types.ts';
import { wakeListeners } from './listener.ts';

/**
 * Attempts for which an event blocks later ones, so that events arrive in order. Then it is retried separately, so that
 * one event that a receiver cannot process does not block all others.
 */
const MAX_IN_ORDER_ATTEMPTS = 4;

/** Retention of events, delivered or not. */
export const WEBHOOK_EVENT_RETENTION_MS = 30 * 24 * 3_600_000;
const SLICE = 400;

export interface WebhookEvent {
  id: number;
  event: string;
  account: number | null;
  email: number | null;
  trace: string;
  detail: Record<string, unknown>;
  at: number;
  attempts: number;
  /** Octets of the received message; 0 if it was deleted, or none was received. */
  size: number;
}

/** Due events of a listener in their delivery order. */
export const dueWebhookEvents = query(
  'due-webhook-events',
  async (rx, input: { listener: number; now: number; limit: number }): Promise<WebhookEvent[]> => {
    const aside = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM webhook_event n LEFT JOIN email e ON e.id = n.email_id
       WHERE n.listener_id = ? AND n.state = 1 AND n.next_at <= ? ORDER BY n.next_at LIMIT 1`,
      input.listener,
      input.now,
    );
    const line = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM webhook_event n LEFT JOIN email e ON e.id = n.email_id
       WHERE n.listener_id = ? AND n.state = 0 ORDER BY n.id LIMIT ?`,
      input.listener,
      input.limit - aside.length,
    );
    // The first event that is not due blocks those after it.
    const stop = line.findIndex((row) => row.next_at > input.now);
    return [...aside, ...(stop === -1 ? line : line.slice(0, stop))].map(toWebhookEvent);
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

function toWebhookEvent({ next_at: _, detail, ...row }: Columns): WebhookEvent {
  return { ...row, detail: JSON.parse(detail) as Record<string, unknown> };
}

export type WebhookEventOutcome = { kind: 'told' } | { kind: 'later'; at: number } | { kind: 'dead' };

/** Records the outcome of an attempt: delivered, to be retried, or given up. */
export async function finishWebhookEvent(
  tx: Write,
  { id, end }: { id: number; end: WebhookEventOutcome },
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `UPDATE webhook_event SET attempts = attempts + 1, next_at = ?,
       state = CASE ? WHEN 'told' THEN 2 WHEN 'dead' THEN 3 ELSE iif(attempts + 1 >= ${MAX_IN_ORDER_ATTEMPTS}, 1, 0) END
     WHERE id = ? AND state < 2`,
    end.kind === 'later' ? end.at : stamp.now,
    end.kind,
    id,
  );
}

/** Queues another event for a stored message. */
export const queueEmailEvent = command(
  'queue-email-event',
  async (
    tx,
    input: { listener: number; account: number; email: number },
    stamp,
  ): Promise<{ kind: 'noted'; id: number } | { kind: 'missing' }> => {
    const { changes, id } = await tx.run(
      `INSERT INTO webhook_event (listener_id, event, account_id, email_id, trace, detail, at, copy_of, next_at)
       SELECT ?, 'received', e.account_id, e.id, '', '{}', ?, 0, ? FROM email e WHERE e.id = ? AND e.account_id = ?`,
      input.listener,
      stamp.now,
      stamp.now,
      input.email,
      input.account,
    );
    if (changes === 0) return { kind: 'missing' };
    wakeListeners(tx, input.account);
    return { kind: 'noted', id };
  },
);

export interface ReplayRange {
  listener: number;
  /** Time of the events, ms UTC; `until` is exclusive. */
  since: number;
  until: number;
  /** Events up to this id were processed by the previous slice. */
  after: number;
  /** Excludes later events, such as those of the replay itself. */
  upTo: number;
}

/**
 * Replays a slice of delivered and given-up events of a listener. Given-up events keep their id, since nobody confirmed
 * them; delivered ones get a new id. `after`: start of the next slice.
 */
export const replayWebhookEvents = command(
  'replay-webhook-events',
  async (
    tx,
    input: ReplayRange,
    stamp,
  ): Promise<{ kind: 'replayed' | 'none'; count: number; after: number | null }> => {
    const rows = await tx.all<{ id: number; state: number }>(
      `SELECT id, state FROM webhook_event
       WHERE listener_id = ? AND state IN (2, 3) AND copy_of IS NULL AND id > ? AND id <= ? AND at >= ? AND at < ?
       ORDER BY id LIMIT ?`,
      input.listener,
      input.after,
      input.upTo,
      input.since,
      input.until,
      SLICE,
    );
    for (const { id, state } of rows) await requeue(tx, id, state, stamp);
    if (rows.length > 0) wakeListeners(tx, null);
    const after = rows.length === SLICE ? (rows.at(-1)?.id ?? null) : null;
    return { kind: rows.length > 0 ? 'replayed' : 'none', count: rows.length, after };
  },
);

/** Replays one event of a listener. Returns its id. */
export const replayWebhookEvent = command(
  'replay-webhook-event',
  async (
    tx,
    input: { listener: number; id: number },
    stamp,
  ): Promise<{ kind: 'noted'; id: number } | { kind: 'missing' }> => {
    const row = await tx.get<{ state: number }>(
      'SELECT state FROM webhook_event WHERE id = ? AND listener_id = ?',
      input.id,
      input.listener,
    );
    if (row === undefined) return { kind: 'missing' };
    const id = await requeue(tx, input.id, row.state, stamp);
    wakeListeners(tx, null);
    return { kind: 'noted', id };
  },
);

const DELIVERED = 2;

async function requeue(tx: Write, id: number, state: number, stamp: Stamp): Promise<number> {
  if (state !== DELIVERED) {
    await tx.run('UPDATE webhook_event SET state = 0, attempts = 0, next_at = ? WHERE id = ?', stamp.now, id);
    return id;
  }
  const copy = await tx.run(
    `INSERT INTO webhook_event (listener_id, event, account_id, email_id, trace, detail, at, copy_of, next_at)
     SELECT listener_id, event, account_id, email_id, trace, detail, at, id, ? FROM webhook_event WHERE id = ?`,
    stamp.now,
    id,
  );
  return copy.id;
}

/** The highest id so far; later events are above it. */
export const newestWebhookEvent = lookup('newest-webhook-event', async (rx): Promise<number> => {
  const row = await rx.get<{ id: number | null }>('SELECT max(id) AS id FROM webhook_event');
  return row?.id ?? 0;
});

/** Given-up events of a listener, newest first, before `before`. */
export const failedWebhookEvents = lookup(
  'failed-webhook-events',
  async (
    rx,
    input: { listener: number; before: number; limit: number },
  ): Promise<(WebhookEvent & { failedAt: number })[]> => {
    const rows = await rx.all<Columns>(
      `SELECT ${COLUMNS} FROM webhook_event n LEFT JOIN email e ON e.id = n.email_id
       WHERE n.listener_id = ? AND n.state = 3 AND n.id < ? ORDER BY n.id DESC LIMIT ?`,
      input.listener,
      input.before,
      input.limit,
    );
    return rows.map((row) => ({ ...toWebhookEvent(row), failedAt: row.next_at }));
  },
);

/** Numbers of pending and given-up events of a listener, each counted up to 1,000. */
export const countWebhookEvents = lookup(
  'count-webhook-events',
  async (rx, input: { listener: number }): Promise<{ waiting: number; dead: number }> => {
    const row = await rx.get<{ waiting: number; dead: number }>(
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM webhook_event WHERE listener_id = ?1 AND state IN (0, 1) LIMIT 1000)) AS waiting,
              (SELECT count(*) FROM (SELECT 1 FROM webhook_event WHERE listener_id = ?1 AND state = 3 LIMIT 1000)) AS dead`,
      input.listener,
    );
    return row ?? { waiting: 0, dead: 0 };
  },
);

/** Purges a slice of old events. Returns whether there may be more. Ids ascend with time. */
export const purgeWebhookEvents = command(
  'purge-webhook-events',
  async (tx, input: { before: number }): Promise<boolean> => {
    const { changes } = await tx.run(
      'DELETE FROM webhook_event WHERE id IN (SELECT id FROM (SELECT id, at FROM webhook_event ORDER BY id LIMIT ?2) WHERE at < ?1)',
      input.before,
      SLICE,
    );
    return changes === SLICE;
  },
);

/** Limits the events of a disabled listener: deletes a slice of the oldest above `keep`. */
export const trimWebhookEvents = command(
  'trim-webhook-events',
  async (tx, input: { listener: number; keep: number }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM webhook_event WHERE id IN (SELECT id FROM webhook_event WHERE listener_id = ?1 AND state = 0 AND id <=
         (SELECT id FROM webhook_event WHERE listener_id = ?1 AND state = 0 ORDER BY id DESC LIMIT 1 OFFSET ?2)
         ORDER BY id LIMIT ?3)`,
      input.listener,
      input.keep,
      SLICE,
    );
    return changes === SLICE;
  },
);

export const disabledListeners = lookup('disabled-listeners', async (rx): Promise<number[]> => {
  const rows = await rx.all<{ id: number }>('SELECT id FROM listener WHERE off_at IS NOT NULL ORDER BY id LIMIT 1000');
  return rows.map((row) => row.id);
});
