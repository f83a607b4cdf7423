import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { setListenerEnabled } from '../../mail/store/notification/listener.ts';
import { finishWebhookEvent, type WebhookEventOutcome } from '../../mail/store/notification/webhook-event.ts';

/** Attempts stored per webhook. */
const MAX_ATTEMPTS = 500;
/** Retention of attempts. */
const KEEP_ATTEMPTS_MS = 30 * 24 * 3_600_000;

/** One delivery attempt, as it is stored. */
export interface WebhookAttemptRecord {
  listener: number;
  account: number | null;
  event: string;
  email: number | null;
  trace: string;
  url: string;
  /** HTTP; null: no answer. */
  status: number | null;
  problem: string | null;
  request: string;
  response: string;
  durationMs: number;
}

export interface EndedAttempt {
  notice: number;
  end: WebhookEventOutcome;
  /** Null: not sent, because the webhook does not subscribe to the event. */
  attempt: WebhookAttemptRecord | null;
}

/** Records finished attempts and the new state of their events, in one commit. */
export const endWebhookAttempts = command(
  'end-webhook-attempts',
  async (tx, input: { ended: readonly EndedAttempt[] }, stamp): Promise<void> => {
    for (const { notice, end, attempt } of input.ended) {
      await finishWebhookEvent(tx, { id: notice, end }, stamp);
      if (attempt !== null) await recordAttempt(tx, notice, end, attempt, stamp);
    }
  },
);

async function recordAttempt(
  tx: Write,
  notice: number,
  end: WebhookEventOutcome,
  attempt: WebhookAttemptRecord,
  { now }: Stamp,
): Promise<void> {
  const succeeded = Number(end.kind === 'told');
  const { changes } = await tx.run(
    `UPDATE webhook SET last_delivery_at = ?1, last_status = ?2,
       failures = CASE ?3 WHEN 1 THEN 0 ELSE failures + 1 END,
       failing_since = CASE ?3 WHEN 1 THEN NULL ELSE coalesce(failing_since, ?1) END,
       dead_notified_at = CASE ?3 WHEN 1 THEN NULL ELSE dead_notified_at END WHERE listener_id = ?4`,
    now,
    attempt.status,
    succeeded,
    attempt.listener,
  );
  // The webhook was deleted during the delivery: nothing is stored.
  if (changes === 0) return;
  const { id } = await tx.run(
    `INSERT INTO webhook_delivery (listener_id, account_id, event_id, event, email_id, trace, at, url, outcome, status,
       problem, request, response, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    attempt.listener,
    attempt.account,
    notice,
    attempt.event,
    attempt.email,
    attempt.trace,
    now,
    attempt.url,
    end.kind,
    attempt.status,
    attempt.problem,
    attempt.request,
    attempt.response,
    attempt.durationMs,
  );
  if (id % 50 === 0) await trimAttempts(tx, attempt.listener);
}

async function trimAttempts(tx: Write, listener: number): Promise<void> {
  await tx.run(
    `DELETE FROM webhook_delivery WHERE id IN (SELECT id FROM webhook_delivery WHERE listener_id = ?1 AND id <=
       (SELECT id FROM webhook_delivery WHERE listener_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2) LIMIT 200)`,
    listener,
    MAX_ATTEMPTS,
  );
}

/** Deletes a slice of old attempts. Returns true if there may be more. */
export const purgeWebhookAttempts = command(
  'purge-webhook-attempts',
  async (tx, _input: undefined, { now }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM webhook_delivery WHERE id IN
         (SELECT id FROM (SELECT id, at FROM webhook_delivery ORDER BY id LIMIT 400) WHERE at < ?)`,
      now - KEEP_ATTEMPTS_MS,
    );
    return changes === 400;
  },
);

/** Sends the notices that a webhook is failing, once until a delivery succeeds. */
export const notifyFailingWebhook = command(
  'notify-failing-webhook',
  async (
    tx,
    { listener, notices }: { listener: number; notices: readonly SystemNotice<'webhook-failing'>[] },
    stamp,
  ): Promise<{ notified: boolean }> => {
    const { changes } = await tx.run(
      'UPDATE webhook SET dead_notified_at = ? WHERE listener_id = ? AND dead_notified_at IS NULL AND failing_since IS NOT NULL',
      stamp.now,
      listener,
    );
    if (changes === 0) return { notified: false };
    await sendNotices(tx, notices, stamp);
    return { notified: true };
  },
);

/** Disables a webhook that still fails, and sends the notices about it. */
export const disableWebhook = command(
  'disable-webhook',
  async (
    tx,
    { listener, notices }: { listener: number; notices: readonly SystemNotice<'webhook-disabled'>[] },
    stamp,
  ): Promise<{ notified: boolean }> => {
    const { changes } = await tx.run(
      'UPDATE webhook SET disabled_at = ? WHERE listener_id = ? AND disabled_at IS NULL AND failing_since IS NOT NULL',
      stamp.now,
      listener,
    );
    if (changes === 0) return { notified: false };
    await setListenerEnabled(tx, listener, false, stamp);
    await sendNotices(tx, notices, stamp);
    return { notified: true };
  },
);
