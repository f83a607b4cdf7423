import { query } from './engine/types.ts';
import type { Viewer } from './journal.ts';

/** A queue row with what its message says of itself. */
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
  held_because: string | null;
  attempts: number;
  created_at: number;
  next_at: number;
  smtputf8: number;
  eight_bit: number;
  notify: string;
  orcpt: string;
  envid: string;
  sign_as: string;
  /** JSON object of the names of domains and their tenants. */
  signers: string;
  arc: string;
  ret: string;
  size: number;
  delay_told: number;
  last_at: number | null;
  last_status: string | null;
  last_text: string | null;
  last_tls: string | null;
  require_tls: number;
  /** Chosen for this row alone; null: as the routes say. */
  route: number | null;
}

/** Of `queue q` and `submission s`: all of a {@link QueueRow}. */
const COLUMNS = `q.id, s.trace, q.submission_id, s.blob_id, s.account_id, s.sender, q.recipient, q.domain, q.state,
  q.held_because, q.attempts, q.created_at, q.next_at, s.smtputf8, s.eight_bit, q.notify, q.orcpt, s.envid, s.sign_as, s.signers, s.arc, s.ret, s.size,
  q.delay_told, q.last_at, q.last_status, q.last_text, q.last_tls, s.require_tls, q.route`;

/** Which rows are meant: null is no limit. */
export interface QueueFilter {
  tenant: number | null;
  accounts: readonly number[] | null;
  state: 'due' | 'held' | null;
  /** Of the destination, A-labels. */
  domain: string | null;
}

/** Rows of the queue for people, oldest first, after the row `after`. It may pass over many of others: a scan. */
export const listQueue = query(
  'list-queue',
  (
    rx,
    { tenant, accounts, state, domain, after, limit }: QueueFilter & { after: number; limit: number },
  ): Promise<QueueRow[]> =>
    rx.all<QueueRow>(
      `SELECT ${COLUMNS} FROM queue q JOIN submission s ON s.id = q.submission_id
       WHERE q.id > ? AND (? IS NULL OR s.tenant = ?) AND (? IS NULL OR s.account_id IN (SELECT value FROM json_each(?)))
         AND (? IS NULL OR q.state = ?) AND (? IS NULL OR q.domain = ?)
       ORDER BY q.id LIMIT ?`,
      after,
      tenant,
      tenant,
      ...sameTwice(accounts === null ? null : JSON.stringify(accounts)),
      ...sameTwice(state === null ? null : Number(state === 'held')),
      ...sameTwice(domain),
      limit,
    ),
);

function sameTwice<T>(value: T): [T, T] {
  return [value, value];
}

/** One row, whoever's it is. */
export const queueRow = query(
  'queue-row',
  (rx, input: { id: number }): Promise<(QueueRow & { tenant: number }) | undefined> =>
    rx.get<QueueRow & { tenant: number }>(
      `SELECT ${COLUMNS}, s.tenant FROM queue q JOIN submission s ON s.id = q.submission_id WHERE q.id = ?`,
      input.id,
    ),
);

/** The rows of one message that still wait, of those that a viewer may know of. */
export const queueOfTrace = query('queue-of-trace', (rx, input: Viewer & { trace: string }): Promise<QueueRow[]> =>
  rx.all<QueueRow>(
    `SELECT ${COLUMNS} FROM submission s JOIN queue q ON q.submission_id = s.id WHERE s.trace = ?
       AND (? IS NULL OR s.tenant = ?) AND (? IS NULL OR s.account_id IN (SELECT value FROM json_each(?)))
     ORDER BY q.id LIMIT 1000`,
    input.trace,
    ...sameTwice(input.tenant),
    ...sameTwice(input.accounts === null ? null : JSON.stringify(input.accounts)),
  ),
);

/** How many recipients wait, and since when (ms UTC) the oldest does that is not held. */
export const queueDepth = query(
  'queue-depth',
  async (rx): Promise<{ due: number; held: number; oldest: number | undefined }> => {
    const row = await rx.get<{ due: number; held: number; oldest: number | null }>(
      `SELECT coalesce(sum(state = 0), 0) AS due, coalesce(sum(state = 1), 0) AS held,
         min(CASE WHEN state = 0 THEN created_at END) AS oldest FROM queue`,
    );
    return { due: row?.due ?? 0, held: row?.held ?? 0, oldest: row?.oldest ?? undefined };
  },
);
