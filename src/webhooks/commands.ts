import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { turnListener } from '../../mail/store/listener.ts';
import { endNotice, type NoticeEnd } from '../../mail/store/notice.ts';

/** Attempts that are remembered for a webhook. */
const KEPT = 500;
/** A webhook that fails for so long is disabled. */
export const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;

/** What is remembered of one attempt. */
export interface Attempt {
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
  end: NoticeEnd;
  /** Null: nothing was tried, as this webhook does not hear of it. */
  attempt: Attempt | null;
}

/** A letter to who owns a webhook: something was given up, or it was disabled. Goes once, with what it tells of. */
export interface WebhookNews {
  listener: number;
  kind: 'dead' | 'disabled';
  letters: readonly Outgoing[];
}

/** How attempts ended and what becomes of their notices, in one commit. Answers whether letters were queued. */
export const endWebhookAttempts = command(
  'end-webhook-attempts',
  async (
    tx,
    input: { ended: readonly EndedAttempt[]; news: readonly WebhookNews[] },
    stamp,
  ): Promise<{ queued: boolean }> => {
    for (const { notice, end, attempt } of input.ended) {
      await endNotice(tx, { id: notice, end }, stamp);
      if (attempt !== null) await remember(tx, notice, end, attempt, stamp);
    }
    let queued = false;
    for (const news of input.news) queued = (await tellOwner(tx, news, stamp)) || queued;
    return { queued };
  },
);

async function remember(tx: Write, notice: number, end: NoticeEnd, attempt: Attempt, { now }: Stamp): Promise<void> {
  const told = Number(end.kind === 'told');
  const { changes } = await tx.run(
    `UPDATE webhook SET last_delivery_at = ?1, last_status = ?2,
       failures = CASE ?3 WHEN 1 THEN 0 ELSE failures + 1 END,
       failing_since = CASE ?3 WHEN 1 THEN NULL ELSE coalesce(failing_since, ?1) END,
       told_dead_at = CASE ?3 WHEN 1 THEN NULL ELSE told_dead_at END WHERE listener_id = ?4`,
    now,
    attempt.status,
    told,
    attempt.listener,
  );
  // It was removed while it was told: nothing of it stays.
  if (changes === 0) return;
  const { id } = await tx.run(
    `INSERT INTO webhook_delivery (listener_id, account_id, notice_id, event, email_id, trace, at, url, outcome, status,
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
  if (id % 50 === 0) await forgetOld(tx, attempt.listener);
}

async function forgetOld(tx: Write, listener: number): Promise<void> {
  await tx.run(
    `DELETE FROM webhook_delivery WHERE id IN (SELECT id FROM webhook_delivery WHERE listener_id = ?1 AND id <=
       (SELECT id FROM webhook_delivery WHERE listener_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2) LIMIT 200)`,
    listener,
    KEPT,
  );
}

/** Attempts of long ago go, a slice at a time; answers whether there may be more. */
export const forgetWebhookAttempts = command(
  'forget-webhook-attempts',
  async (tx, input: { before: number }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM webhook_delivery WHERE id IN
         (SELECT id FROM (SELECT id, at FROM webhook_delivery ORDER BY id LIMIT 400) WHERE at < ?)`,
      input.before,
    );
    return changes === 400;
  },
);

async function tellOwner(tx: Write, { listener, kind, letters }: WebhookNews, stamp: Stamp): Promise<boolean> {
  const { changes } = await tx.run(
    kind === 'dead'
      ? 'UPDATE webhook SET told_dead_at = ? WHERE listener_id = ? AND told_dead_at IS NULL'
      : 'UPDATE webhook SET disabled_at = ? WHERE listener_id = ? AND disabled_at IS NULL AND failing_since IS NOT NULL',
    stamp.now,
    listener,
  );
  if (changes === 0) return false;
  if (kind === 'disabled') await turnListener(tx, listener, false, stamp);
  let queued = false;
  for (const letter of letters) queued = (await send(tx, letter, stamp)).queued || queued;
  return queued;
}
