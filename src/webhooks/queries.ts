import { flagless, lookup, type Row } from '../../mail/store/engine/types.ts';

/** A webhook with due events. */
export interface DueWebhook extends Row {
  listener: number;
  organization: number;
  url: string;
}

/** Active webhooks: not disabled, of an active account and organization. */
const ENABLED = `FROM listener l JOIN webhook w ON w.listener_id = l.id
  JOIN organization o ON o.id = w.organization_id AND o.frozen_at IS NULL
  LEFT JOIN account a ON a.id = l.account_id
  WHERE l.off_at IS NULL AND (l.account_id IS NULL OR a.state = 1)`;
/** The same, ordered by due time; the index has only webhooks with pending events. */
const DUE = `FROM listener l INDEXED BY listener_due CROSS JOIN webhook w ON w.listener_id = l.id
  CROSS JOIN organization o ON o.id = w.organization_id AND o.frozen_at IS NULL
  LEFT JOIN account a ON a.id = l.account_id
  WHERE l.off_at IS NULL AND (l.account_id IS NULL OR a.state = 1) AND l.due_at IS NOT NULL`;

/** Webhooks with due events, except those in `not`. Reads only the first event of each. */
export const dueWebhooks = flagless(
  lookup('due-hooks', (rx, input: { now: number; not: readonly number[]; limit: number }): Promise<DueWebhook[]> =>
    rx.all<DueWebhook>(
      `SELECT l.id AS listener, w.organization_id AS organization, w.url ${DUE}
       AND l.due_at <= ?1 AND l.id NOT IN (SELECT value FROM json_each(?2)) ORDER BY l.due_at LIMIT ?3`,
      input.now,
      JSON.stringify(input.not),
      input.limit,
    ),
  ),
);

/** The next due time of webhooks that are not in `not`, ms UTC. */
export const nextNotice = flagless(
  lookup('next-webhook-event', async (rx, input: { not: readonly number[] }): Promise<number | undefined> => {
    const row = await rx.get<{ at: number }>(
      `SELECT l.due_at AS at ${DUE} AND l.id NOT IN (SELECT value FROM json_each(?)) ORDER BY l.due_at LIMIT 1`,
      JSON.stringify(input.not),
    );
    return row?.at;
  }),
);

export interface WebhookTarget extends Row {
  listener: number;
  organization: number;
  /** Null: webhook of the organization. */
  account: number | null;
  /** Null, or the project whose events it gets. */
  project: number | null;
  /** Address of the mailbox; '' for a webhook of the organization. */
  address: string;
  url: string;
  /** Encrypted. */
  secret: Uint8Array;
}

/** The target of a listener; undefined when deleted or disabled. */
export const webhookTarget = lookup(
  'webhook-target',
  (rx, input: { listener: number }): Promise<WebhookTarget | undefined> =>
    rx.get<WebhookTarget>(
      `SELECT w.listener_id AS listener, w.organization_id AS organization, w.account_id AS account,
         w.project_id AS project, coalesce(a.address, '') AS address, w.url, w.secret ${ENABLED} AND l.id = ?`,
      input.listener,
    ),
);

/** A webhook whose owners get a notice. */
export type FailingWebhook = Pick<WebhookTarget, 'listener' | 'organization' | 'account' | 'address' | 'url'> & Row;

const FAILING = `SELECT w.listener_id AS listener, w.organization_id AS organization, w.account_id AS account,
  coalesce(a.address, '') AS address, w.url ${ENABLED} AND w.disabled_at IS NULL AND w.failing_since IS NOT NULL`;

/** Lists failing webhooks with a dead delivery whose owners were not notified yet. May scan. */
export const failingWebhooks = lookup(
  'failing-webhooks',
  (rx, { limit }: { limit: number }): Promise<FailingWebhook[]> =>
    rx.all<FailingWebhook>(
      `${FAILING} AND w.dead_notified_at IS NULL AND EXISTS (SELECT 1 FROM webhook_delivery d
       WHERE d.listener_id = w.listener_id AND d.outcome = 'dead' AND d.at >= w.failing_since) LIMIT ?`,
      limit,
    ),
);

/** Lists webhooks whose attempts failed for `forMs`, from the first failure to the newest. May scan. */
export const longFailingWebhooks = lookup(
  'long-failing-webhooks',
  (rx, { forMs, limit }: { forMs: number; limit: number }): Promise<FailingWebhook[]> =>
    rx.all<FailingWebhook>(`${FAILING} AND w.last_delivery_at - w.failing_since >= ? LIMIT ?`, forMs, limit),
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
export const listWebhookAttempts = lookup(
  'list-webhook-attempts',
  (rx, input: { listener: number; before: number; limit: number }): Promise<DeliveryLine[]> =>
    rx.all<DeliveryLine>(
      `SELECT id, event_id AS notice, event, email_id AS email, at, url, outcome, status, problem, request, response,
         duration_ms AS durationMs
       FROM webhook_delivery WHERE listener_id = ? AND id < ? ORDER BY id DESC LIMIT ?`,
      input.listener,
      input.before,
      input.limit,
    ),
);

export interface LastWebhookAttempt extends Row {
  outcome: string;
  status: number | null;
  problem: string | null;
  durationMs: number;
}

/** The newest attempt of an event. */
export const lastWebhookAttempt = lookup(
  'attempt-of',
  (rx, input: { notice: number }): Promise<LastWebhookAttempt | undefined> =>
    rx.get<LastWebhookAttempt>(
      `SELECT outcome, status, problem, duration_ms AS durationMs FROM webhook_delivery
       WHERE event_id = ? ORDER BY id DESC LIMIT 1`,
      input.notice,
    ),
);

/** The newest message of an account. */
export const newestEmail = lookup(
  'newest-email',
  async (rx, input: { account: number }): Promise<number | undefined> => {
    const row = await rx.get<{ id: number }>(
      `SELECT e.id FROM email e WHERE e.id > ?1 * 4294967296 AND e.id < (?1 + 1) * 4294967296
         AND EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id)
       ORDER BY e.id DESC LIMIT 1`,
      input.account,
    );
    return row?.id;
  },
);
