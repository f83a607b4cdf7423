import { lookup } from '../../mail/store/engine/types.ts';

/** Finds the sent email of a trace id. */
export const sentOfTrace = lookup(
  'sent-of-trace',
  (rx, input: { organization: number; trace: string }): Promise<{ id: number } | undefined> =>
    rx.get<{ id: number }>(
      'SELECT id FROM sent_email WHERE trace = ? AND organization_id = ?',
      input.trace,
      input.organization,
    ),
);

/** One attempt to deliver a webhook event. */
export interface WebhookAttempt extends Record<string, string | number | null> {
  at: number;
  url: string;
  /** HTTP status; null without a response. */
  status: number | null;
  problem: string | null;
  response: string;
}

/** Reads the last 20 webhook attempts for one message, oldest first. */
export const webhookAttemptsOf = lookup('webhook-attempts', async (rx, input: { account: number; email: number }) => {
  const rows = await rx.all<WebhookAttempt>(
    `SELECT at, url, status, problem, response FROM webhook_delivery WHERE account_id = ? AND email_id = ?
     ORDER BY id DESC LIMIT 20`,
    input.account,
    input.email,
  );
  return rows.toReversed();
});

/** Reads the undelivered webhook event of a message: next attempt, or time of giving up; ms UTC. */
export const pendingWebhookNotice = lookup('pending-webhook-notice', (rx, input: { account: number; email: number }) =>
  rx.get<{ attempts: number; nextAt: number; deadAt: number | null }>(
    `SELECT attempts, next_at AS nextAt, CASE state WHEN 3 THEN next_at END AS deadAt FROM webhook_event
     WHERE email_id = ? AND account_id = ? AND state <> 2 ORDER BY id DESC LIMIT 1`,
    input.email,
    input.account,
  ),
);

/** Start times of delivery attempts in progress for a queue row, ms UTC. */
export const openAttempts = lookup('open-attempts', async (rx, input: { queue: number }): Promise<number[]> => {
  const rows = await rx.all<{ at: number }>(
    'SELECT at FROM attempt WHERE queue_id = ? AND ended_at IS NULL ORDER BY id DESC LIMIT 5',
    input.queue,
  );
  return rows.map((row) => row.at).toReversed();
});

/** Finds the blob of a tenant's message, by email id or by trace id. */
export const messageOctets = lookup(
  'octets-of',
  (rx, input: { tenant: number; email: number; trace: string }): Promise<{ blob: number; size: number } | undefined> =>
    rx.get<{ blob: number; size: number }>(
      `SELECT b.id AS blob, b.size FROM (
         SELECT e.blob_id FROM email e JOIN account a ON a.id = e.account_id WHERE e.id = ?1 AND a.tenant = ?2
         UNION ALL SELECT blob_id FROM submission WHERE trace = ?3 AND tenant = ?2
       ) s JOIN blob b ON b.id = s.blob_id LIMIT 1`,
      input.email,
      input.tenant,
      input.trace,
    ),
);
