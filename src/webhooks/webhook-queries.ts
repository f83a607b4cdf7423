import { lookup, query, type Read } from '../../mail/store/engine/types.ts';

/** A webhook without its secret. Times are ms UTC. */
export interface Webhook {
  id: number;
  /** Null: webhook of the organization. */
  account: number | null;
  project: number | null;
  url: string;
  /** Journal events. */
  events: string[];
  createdAt: number;
  lastDeliveryAt: number | null;
  /** HTTP status of the last answer. */
  lastStatus: number | null;
  /** Consecutive failures. */
  failures: number;
  disabledAt: number | null;
}

type Columns = Omit<Webhook, 'events'> & { events: string };

const WEBHOOK = `SELECT w.listener_id AS id, w.account_id AS account, w.project_id AS project, w.url, l.events,
  w.created_at AS createdAt, w.last_delivery_at AS lastDeliveryAt, w.last_status AS lastStatus, w.failures,
  w.disabled_at AS disabledAt FROM webhook w JOIN listener l ON l.id = w.listener_id`;

/** The webhook of a mailbox. */
export const findWebhook = query('find-webhook', (rx, input: { account: number }): Promise<Webhook | undefined> =>
  one(rx, `${WEBHOOK} WHERE w.account_id = ?`, input.account),
);

/** A webhook of an organization itself, not one of its mailboxes. */
export const webhookOfOrganization = query(
  'webhook-of-organization',
  (rx, input: { organization: number; id: number }): Promise<Webhook | undefined> =>
    one(
      rx,
      `${WEBHOOK} WHERE w.organization_id = ? AND w.listener_id = ? AND w.account_id IS NULL`,
      input.organization,
      input.id,
    ),
);

/** Webhooks of the organization itself, at most 10. */
export const listWebhooks = lookup('list-webhooks', async (rx, input: { organization: number }): Promise<Webhook[]> => {
  const rows = await rx.all<Columns>(
    `${WEBHOOK} WHERE w.organization_id = ? AND w.account_id IS NULL ORDER BY w.listener_id`,
    input.organization,
  );
  return rows.map(toWebhook);
});

async function one(rx: Read, sql: string, ...ids: number[]): Promise<Webhook | undefined> {
  const row = await rx.get<Columns>(sql, ...ids);
  return row && toWebhook(row);
}

function toWebhook({ events, ...row }: Columns): Webhook {
  return { ...row, events: JSON.parse(events) as string[] };
}
