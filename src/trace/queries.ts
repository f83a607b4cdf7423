import { query } from '../../mail/store/engine/types.ts';

/** The id under which a program sent a message. */
export const sentOfTrace = query(
  'sent-of-trace',
  (rx, input: { organization: number; trace: string }): Promise<{ id: number } | undefined> =>
    rx.get<{ id: number }>(
      'SELECT id FROM sent_email WHERE trace = ? AND organization_id = ?',
      input.trace,
      input.organization,
    ),
);

/** One attempt to tell a webhook of a message. */
export interface Told extends Record<string, string | number | null> {
  at: number;
  url: string;
  /** HTTP; null: no answer. */
  status: number | null;
  problem: string | null;
  response: string;
}

/** How the webhook of an account was told of one message: at most the last 20 attempts, oldest first. */
export const toldOfEmail = query('told-of-email', async (rx, input: { account: number; email: number }) => {
  const rows = await rx.all<Told>(
    `SELECT at, url, status, problem, response FROM webhook_delivery WHERE account_id = ? AND email_id = ?
     ORDER BY id DESC LIMIT 20`,
    input.account,
    input.email,
  );
  return rows.toReversed();
});

/** A message that a webhook has not been told of: when it is tried next, or when that was given up; ms UTC. */
export const untoldEmail = query('untold-email', (rx, input: { account: number; email: number }) =>
  rx.get<{ attempts: number; nextAt: number; deadAt: number | null }>(
    `SELECT attempts, next_at AS nextAt, CASE state WHEN 3 THEN next_at END AS deadAt FROM notice
     WHERE email_id = ? AND account_id = ? AND state <> 2 ORDER BY id DESC LIMIT 1`,
    input.email,
    input.account,
  ),
);

/** Attempts to deliver a queue row that have begun and not ended, ms UTC. */
export const openAttempts = query('open-attempts', async (rx, input: { queue: number }): Promise<number[]> => {
  const rows = await rx.all<{ at: number }>(
    'SELECT at FROM attempt WHERE queue_id = ? AND ended_at IS NULL ORDER BY id DESC LIMIT 5',
    input.queue,
  );
  return rows.map((row) => row.at).toReversed();
});

/** Where the octets of a message of a tenant are, by the id that an account has it under, or by its trace id. */
export const octetsOf = query(
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
