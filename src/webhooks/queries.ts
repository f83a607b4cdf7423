import { query, type Row } from '../../mail/store/engine/types.ts';

/** A webhook for which something is due. */
export interface DueHook extends Row {
  listener: number;
  organization: number;
  url: string;
}

/** Those that can be told: not disabled, of an account and an organization that work. */
const OPEN = `FROM listener l JOIN webhook w ON w.listener_id = l.id
  JOIN organization o ON o.id = w.organization_id AND o.frozen_at IS NULL
  LEFT JOIN account a ON a.id = l.account_id
  WHERE l.off_at IS NULL AND (l.account_id IS NULL OR a.state = 1)`;
/** The same, those first that wait longest: only those are read that something waits for. */
const DUE = `FROM listener l INDEXED BY listener_due CROSS JOIN webhook w ON w.listener_id = l.id
  CROSS JOIN organization o ON o.id = w.organization_id AND o.frozen_at IS NULL
  LEFT JOIN account a ON a.id = l.account_id
  WHERE l.off_at IS NULL AND (l.account_id IS NULL OR a.state = 1) AND l.due_at IS NOT NULL`;

/** Webhooks with something due, none of those in `not`. What waits behind the first in line costs no look. */
export const dueHooks = query(
  'due-hooks',
  (rx, input: { now: number; not: readonly number[]; limit: number }): Promise<DueHook[]> =>
    rx.all<DueHook>(
      `SELECT l.id AS listener, w.organization_id AS organization, w.url ${DUE}
       AND l.due_at <= ?1 AND l.id NOT IN (SELECT value FROM json_each(?2)) ORDER BY l.due_at LIMIT ?3`,
      input.now,
      JSON.stringify(input.not),
      input.limit,
    ),
);

/** When the next notice is due of webhooks that are not in `not`, ms UTC. */
export const nextNotice = query(
  'next-notice',
  async (rx, input: { not: readonly number[] }): Promise<number | undefined> => {
    const row = await rx.get<{ at: number }>(
      `SELECT l.due_at AS at ${DUE} AND l.id NOT IN (SELECT value FROM json_each(?)) ORDER BY l.due_at LIMIT 1`,
      JSON.stringify(input.not),
    );
    return row?.at;
  },
);

export interface Target extends Row {
  listener: number;
  organization: number;
  /** Null: of the organization. */
  account: number | null;
  /** Only what this project sends. */
  project: number | null;
  /** Of the mailbox; '' when it is of the organization. */
  address: string;
  url: string;
  /** Sealed. */
  secret: Uint8Array;
  /** ms UTC. */
  failingSince: number | null;
  toldDeadAt: number | null;
}

/** Where a listener is; undefined when it was removed or disabled. */
export const webhookTarget = query('webhook-target', (rx, input: { listener: number }): Promise<Target | undefined> =>
  rx.get<Target>(
    `SELECT w.listener_id AS listener, w.organization_id AS organization, w.account_id AS account,
         w.project_id AS project, coalesce(a.address, '') AS address, w.url, w.secret,
         w.failing_since AS failingSince, w.told_dead_at AS toldDeadAt ${OPEN} AND l.id = ?`,
    input.listener,
  ),
);

export interface DeliveryLine extends Row {
  id: number;
  notice: number;
  event: string;
  email: number | null;
  at: number;
  url: string;
  outcome: string;
  status: number | null;
  problem: string | null;
  request: string;
  response: string;
  durationMs: number;
}

/** Attempts of a webhook, newest first, before `before`. */
export const listWebhookAttempts = query(
  'list-webhook-attempts',
  (rx, input: { listener: number; before: number; limit: number }): Promise<DeliveryLine[]> =>
    rx.all<DeliveryLine>(
      `SELECT id, notice_id AS notice, event, email_id AS email, at, url, outcome, status, problem, request, response,
         duration_ms AS durationMs
       FROM webhook_delivery WHERE listener_id = ? AND id < ? ORDER BY id DESC LIMIT ?`,
      input.listener,
      input.before,
      input.limit,
    ),
);

export interface Attempt extends Row {
  outcome: string;
  status: number | null;
  problem: string | null;
  durationMs: number;
}

/** The newest attempt at a notice. */
export const attemptOf = query('attempt-of', (rx, input: { notice: number }): Promise<Attempt | undefined> =>
  rx.get<Attempt>(
    `SELECT outcome, status, problem, duration_ms AS durationMs FROM webhook_delivery
       WHERE notice_id = ? ORDER BY id DESC LIMIT 1`,
    input.notice,
  ),
);
