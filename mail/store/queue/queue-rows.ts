import { lookup } from '../engine/types.ts';
import type { JournalViewer } from '../journal/journal.ts';

/** A queue row with data of its message. */
export interface QueueRow extends Record<string, string | number | null> {
  id: number;
  trace: string;
  submission_id: number;
  blob_id: number;
  account_id: number | null;
  sender: string;
  recipient: string;
  domain: string;
  state: number;
  hold_reason: string | null;
  attempts: number;
  created_at: number;
  next_at: number;
  smtputf8: number;
  eight_bit: number;
  notify: string;
  orcpt: string;
  envid: string;
  sign_as: string;
  /** JSON object, domain to tenant. */
  signers: string;
  arc: string;
  ret: string;
  size: number;
  dsn_sent: number;
  last_at: number | null;
  last_status: string | null;
  last_text: string | null;
  last_tls: string | null;
  require_tls: number;
  /** Route of this row only; null: by the routes. */
  route: number | null;
}

/** Columns of {@link QueueRow}, of `queue q` and `submission s`. */
const COLUMNS = `q.id, s.trace, q.submission_id, s.blob_id, s.account_id, s.sender, q.recipient, q.domain, q.state,
  q.hold_reason, q.attempts, q.created_at, q.next_at, s.smtputf8, s.eight_bit, q.notify, q.orcpt, s.envid, s.sign_as, s.signers, s.arc, s.ret, s.size,
  q.dsn_sent, q.last_at, q.last_status, q.last_text, q.last_tls, s.require_tls, q.route`;

/** Filter of queue rows; null: no restriction. */
export interface QueueFilter {
  tenant: number | null;
  accounts: readonly number[] | null;
  state: 'due' | 'held' | null;
  /** Destination domain, A-labels. */
  domain: string | null;
}

/** Lists queue rows, oldest first, after `after`. May scan many others: run it in a reader thread. */
export const listQueue = lookup(
  'list-queue',
  (
    rx,
    { tenant, accounts, state, domain, after, limit }: QueueFilter & { after: number; limit: number },
  ): Promise<QueueRow[]> =>
    rx.all<QueueRow>(
      `SELECT ${COLUMNS} FROM queue q JOIN submission s ON s.id = q.submission_id
       WHERE q.id > ?1 AND (?2 IS NULL OR s.tenant = ?2)
         AND (?3 IS NULL OR s.account_id IN (SELECT value FROM json_each(?3)))
         AND (?4 IS NULL OR q.state = ?4) AND (?5 IS NULL OR q.domain = ?5)
       ORDER BY q.id LIMIT ?6`,
      after,
      tenant,
      accounts === null ? null : JSON.stringify(accounts),
      state === null ? null : Number(state === 'held'),
      domain,
      limit,
    ),
);

/** One row of any tenant. */
export const queueRow = lookup(
  'queue-row',
  (rx, input: { id: number }): Promise<(QueueRow & { tenant: number }) | undefined> =>
    rx.get<QueueRow & { tenant: number }>(
      `SELECT ${COLUMNS}, s.tenant FROM queue q JOIN submission s ON s.id = q.submission_id WHERE q.id = ?`,
      input.id,
    ),
);

/** Queued rows of one message that a viewer may see. */
export const queueOfTrace = lookup(
  'queue-of-trace',
  (rx, input: JournalViewer & { trace: string }): Promise<QueueRow[]> =>
    rx.all<QueueRow>(
      `SELECT ${COLUMNS} FROM submission s JOIN queue q ON q.submission_id = s.id WHERE s.trace = ?1
       AND (?2 IS NULL OR s.tenant = ?2) AND (?3 IS NULL OR s.account_id IN (SELECT value FROM json_each(?3)))
     ORDER BY q.id LIMIT 1000`,
      input.trace,
      input.tenant,
      input.accounts === null ? null : JSON.stringify(input.accounts),
    ),
);

/** Number of queued recipients, and time (ms UTC) of the oldest that is not held. */
export const queueDepth = lookup(
  'queue-depth',
  async (rx): Promise<{ due: number; held: number; oldest: number | undefined; next: number | undefined }> => {
    const row = await rx.get<{ due: number; held: number; oldest: number | null; next: number | null }>(
      `SELECT coalesce(sum(state = 0), 0) AS due, coalesce(sum(state = 1), 0) AS held,
         min(CASE WHEN state = 0 THEN created_at END) AS oldest,
         min(CASE WHEN state = 0 THEN next_at END) AS next FROM queue`,
    );
    return { due: row?.due ?? 0, held: row?.held ?? 0, oldest: row?.oldest ?? undefined, next: row?.next ?? undefined };
  },
);
