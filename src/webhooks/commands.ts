import { endArrival } from '../../mail/store/arrival.ts';
import { command, query } from '../../mail/store/engine/types.ts';

/** Attempts that are remembered for a mailbox. */
const KEPT = 500;

export interface Attempt {
  account: number;
  arrival: number;
  email: number;
  url: string;
  /** HTTP; null: no answer. */
  status: number | null;
  problem: string | null;
  response: string;
  durationMs: number;
}

export type AttemptEnd = { kind: 'told' } | { kind: 'later'; at: number } | { kind: 'dead' };

/** How an attempt ended, and what becomes of its arrival, in one commit. */
export const endWebhookAttempt = command(
  'end-webhook-attempt',
  async (tx, input: { attempt: Attempt; end: AttemptEnd }, stamp): Promise<void> => {
    const { attempt, end } = input;
    await endArrival(tx, { id: attempt.arrival, end }, stamp);
    await tx.run(
      `UPDATE webhook SET last_delivery_at = ?, last_status = ?, failures = CASE WHEN ? THEN 0 ELSE failures + 1 END
       WHERE account_id = ?`,
      stamp.now,
      attempt.status,
      Number(end.kind === 'told'),
      attempt.account,
    );
    const { id } = await tx.run(
      `INSERT INTO webhook_delivery (account_id, arrival_id, email_id, at, url, status, problem, response, duration_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      attempt.account,
      attempt.arrival,
      attempt.email,
      stamp.now,
      attempt.url,
      attempt.status,
      attempt.problem,
      attempt.response,
      attempt.durationMs,
    );
    if (id % 50 === 0) {
      await tx.run(
        `DELETE FROM webhook_delivery WHERE account_id = ?1 AND id <= (SELECT id FROM webhook_delivery
           WHERE account_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
        attempt.account,
        KEPT,
      );
    }
  },
);

export interface Target {
  url: string;
  /** Sealed. */
  secret: Uint8Array;
  /** Of the mailbox. */
  address: string;
  organization: number;
}

/** Where arrivals of an account are announced; undefined when nowhere. */
export const webhookTarget = query(
  'webhook-target',
  (rx, input: { account: number }): Promise<(Target & Record<string, string | number | Uint8Array>) | undefined> =>
    rx.get(
      `SELECT w.url, w.secret, a.address, w.organization_id AS organization FROM webhook w JOIN account a ON a.id = w.account_id
       WHERE w.account_id = ? AND w.enabled = 1`,
      input.account,
    ),
);

export interface DeliveryLine extends Record<string, string | number | null> {
  id: number;
  arrival: number;
  email: number;
  at: number;
  url: string;
  status: number | null;
  problem: string | null;
  response: string;
  durationMs: number;
}

/** Attempts of a mailbox's webhook, newest first, before `before`. */
export const listWebhookAttempts = query(
  'list-webhook-attempts',
  (rx, input: { account: number; before: number; limit: number }): Promise<DeliveryLine[]> =>
    rx.all<DeliveryLine>(
      `SELECT id, arrival_id AS arrival, email_id AS email, at, url, status, problem, response, duration_ms AS durationMs
       FROM webhook_delivery WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?`,
      input.account,
      input.before,
      input.limit,
    ),
);
