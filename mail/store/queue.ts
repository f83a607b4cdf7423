import { command, query, type Stamp, type Write } from './engine/types.ts';
import { note } from './journal.ts';
import { textKey } from '../message/address.ts';
import { meansGone, suppress } from './suppression.ts';
import { collectBlob } from './tidy.ts';

/** A message that leaves: what all its recipients share. */
export interface NewSubmission {
  trace: string;
  tenant: number;
  /** Null: the box itself. */
  account: number | null;
  blob: number;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  smtputf8: boolean;
  eightBit: boolean;
  ret: string;
  envid: string;
  /** Domains whose keys sign it; none: the envelope sender's, else the box's. */
  signAs: readonly string[];
  size: number;
  /** Header lines before the octets, on this way out only; one character an octet. */
  prefix?: string;
}

export interface NewQueueRow {
  recipient: string;
  domain: string;
  notify: string;
  orcpt: string;
  /** Gets the message when this recipient never does. */
  fallback?: number;
}

/** Queues a message for recipients elsewhere. `hold` is the reason when nothing may go out yet. */
export async function enqueue(
  tx: Write,
  submission: NewSubmission,
  rows: readonly NewQueueRow[],
  hold: string | null,
  stamp: Stamp,
): Promise<number[]> {
  const id = await addSubmission(tx, submission, stamp);
  return addRows(tx, { submission: id, trace: submission.trace, account: submission.account }, rows, hold, stamp);
}

export async function addSubmission(tx: Write, submission: NewSubmission, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO submission (trace, tenant, account_id, blob_id, sender, smtputf8, eight_bit, ret, envid, sign_as, size, created_at, prefix)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    submission.trace,
    submission.tenant,
    submission.account,
    submission.blob,
    submission.sender,
    Number(submission.smtputf8),
    Number(submission.eightBit),
    submission.ret,
    submission.envid,
    submission.signAs.join(' '),
    submission.size + (submission.prefix?.length ?? 0),
    stamp.now,
    submission.prefix ?? '',
  );
  return id;
}

export async function addRows(
  tx: Write,
  message: { submission: number; trace: string; account: number | null },
  rows: readonly NewQueueRow[],
  hold: string | null,
  stamp: Stamp,
): Promise<number[]> {
  const ids: number[] = [];
  for (const row of rows) {
    const queued = await tx.run(
      `INSERT INTO queue (submission_id, recipient, domain, state, held_because, next_at, notify, orcpt, created_at, fallback_account)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      message.submission,
      row.recipient,
      row.domain,
      Number(hold !== null),
      hold,
      stamp.now,
      row.notify,
      row.orcpt,
      stamp.now,
      row.fallback ?? null,
    );
    ids.push(queued.id);
    if (hold !== null) {
      await note(tx, message.trace, 'held', message.account, { to: row.recipient, because: hold }, stamp);
    }
  }
  return ids;
}

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
  ret: string;
  size: number;
  delay_told: number;
  last_at: number | null;
  last_status: string | null;
  last_text: string | null;
}

const COLUMNS = `q.id, s.trace, q.submission_id, s.blob_id, s.account_id, s.sender, q.recipient, q.domain, q.state,
  q.held_because, q.attempts, q.created_at, q.next_at, s.smtputf8, s.eight_bit, q.notify, q.orcpt, s.envid, s.sign_as, s.ret, s.size,
  q.delay_told, q.last_at, q.last_status, q.last_text`;

/**
 * Due rows, oldest due first, without the destinations that have all the work they can take; then those that were tried
 * and are due beyond `horizon`: a clock that has been set back since wrote them. Two reads, each of one stretch of the
 * index: an OR of them would read all that is in between, which is the whole backlog.
 */
export const dueRows = query(
  'due-rows',
  async (rx, input: { now: number; limit: number; busy: readonly string[]; horizon: number }): Promise<QueueRow[]> => {
    const busy = JSON.stringify(input.busy);
    const due = await rx.all<QueueRow>(
      `SELECT ${COLUMNS} FROM queue q INDEXED BY queue_due JOIN submission s ON s.id = q.submission_id
       WHERE q.state = 0 AND q.next_at <= ? AND q.domain NOT IN (SELECT value FROM json_each(?))
       ORDER BY q.next_at LIMIT ?`,
      input.now,
      busy,
      input.limit,
    );
    if (due.length >= input.limit) return due;
    const astray = await rx.all<QueueRow>(
      `SELECT ${COLUMNS} FROM queue q INDEXED BY queue_due JOIN submission s ON s.id = q.submission_id
       WHERE q.state = 0 AND q.next_at > ? AND q.attempts > 0 AND q.domain NOT IN (SELECT value FROM json_each(?))
       ORDER BY q.next_at LIMIT ?`,
      input.horizon,
      busy,
      input.limit - due.length,
    );
    return [...due, ...astray];
  },
);

export const nextDue = query('next-due', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ at: number | null }>('SELECT min(next_at) AS at FROM queue WHERE state = 0');
  return row?.at ?? undefined;
});

/** Which rows are meant: null is no limit. */
export interface QueueFilter {
  tenant: number | null;
  accounts: readonly number[] | null;
  state: 'due' | 'held' | null;
  /** Of the destination, A-labels. */
  domain: string | null;
}

/** Rows of the queue for people, oldest first, after the row `after`. */
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

/** The rows of one message that still wait. */
export const queueOfTrace = query('queue-of-trace', (rx, input: { trace: string }): Promise<QueueRow[]> =>
  rx.all<QueueRow>(
    `SELECT ${COLUMNS} FROM submission s JOIN queue q ON q.submission_id = s.id WHERE s.trace = ? ORDER BY q.id`,
    input.trace,
  ),
);

export const queueDepth = query('queue-depth', async (rx): Promise<{ due: number; held: number }> => {
  const row = await rx.get<{ due: number; held: number }>(
    'SELECT coalesce(sum(state = 0), 0) AS due, coalesce(sum(state = 1), 0) AS held FROM queue',
  );
  return { due: row?.due ?? 0, held: row?.held ?? 0 };
});

/**
 * Notes attempts before anything is dialled, with the time of the next one, so that a crash in the middle cannot make
 * the box hammer a remote host. Answers the rows that are still there to be tried.
 */
export const beginAttempts = command(
  'begin-attempts',
  async (tx, input: { items: readonly { id: number; nextAt: number }[] }, stamp): Promise<number[]> => {
    const begun: number[] = [];
    for (const { id, nextAt } of input.items) {
      const { changes } = await tx.run(
        'UPDATE queue SET attempts = attempts + 1, next_at = ?, last_at = ? WHERE id = ? AND state = 0',
        nextAt,
        stamp.now,
        id,
      );
      if (changes === 0) continue;
      await tx.run('INSERT INTO attempt (queue_id, at) VALUES (?, ?)', id, stamp.now);
      begun.push(id);
    }
    return begun;
  },
);

/** How an attempt ended for one recipient. */
export interface AttemptEnd {
  id: number;
  outcome: 'delivered' | 'failed' | 'deferred';
  host: string;
  ip: string;
  code: number;
  status: string;
  text: string;
  tls: string;
  at: number;
  nextAt: number;
}

/** Writes down how an attempt ended; a row that is delivered or given up goes. */
export async function endAttempt(tx: Write, end: AttemptEnd, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ trace: string; recipient: string; account_id: number | null; tenant: number }>(
    `SELECT s.trace, q.recipient, s.account_id, s.tenant FROM queue q JOIN submission s ON s.id = q.submission_id
     WHERE q.id = ?`,
    end.id,
  );
  if (row === undefined) return;
  if (end.outcome === 'failed' && meansGone(end.status)) {
    const source = { reason: 'hard_bounce', source: row.trace } as const;
    await suppress(tx, { tenant: row.tenant, key: textKey(row.recipient), ...source }, stamp);
  }
  await tx.run(
    `UPDATE attempt SET ended_at = ?, outcome = ?, host = ?, ip = ?, code = ?, status = ?, text = ?, tls = ?
     WHERE id = (SELECT max(id) FROM attempt WHERE queue_id = ?)`,
    end.at,
    end.outcome,
    end.host,
    end.ip,
    end.code,
    end.status,
    end.text,
    end.tls,
    end.id,
  );
  const { host, code, status, text } = end;
  const told = { to: row.recipient, host, code, status, text };
  await note(tx, row.trace, end.outcome, row.account_id, told, stamp, { tenant: row.tenant });
  if (end.outcome === 'deferred') {
    await tx.run(
      'UPDATE queue SET next_at = ?, last_status = ?, last_text = ? WHERE id = ?',
      end.nextAt,
      status,
      text,
      end.id,
    );
  } else await removeRow(tx, end.id);
}

/** Takes a row out of the queue; with the last one of a message goes its submission. */
async function removeRow(tx: Write, id: number): Promise<void> {
  const row = await tx.get<{ submission_id: number }>('DELETE FROM queue WHERE id = ? RETURNING submission_id', id);
  if (row !== undefined) await dropSubmission(tx, row.submission_id);
}

/** A message that has no row left goes, and its octets when no email has them either. */
export async function dropSubmission(tx: Write, id: number): Promise<void> {
  const done = await tx.get<{ blob_id: number }>(
    `DELETE FROM submission WHERE id = ? AND NOT EXISTS (SELECT 1 FROM queue WHERE submission_id = ?) RETURNING blob_id`,
    id,
    id,
  );
  // The file of a large one stays until the sweep: it may be being read for a bounce at this moment.
  if (done !== undefined) await collectBlob(tx, done.blob_id);
}

export const markDelayTold = async (tx: Write, ids: readonly number[]): Promise<void> => {
  for (const id of ids) await tx.run('UPDATE queue SET delay_told = 1 WHERE id = ?', id);
};

/** What a person can do to rows: try now, keep back, let go what was held, never send. */
export type Steering = 'retry' | 'hold' | 'release' | 'cancel';

/** Does it to rows that are in the state for it. Answers how many it met; at most 500, so 'all' is asked again. */
export const steerQueue = command(
  'steer-queue',
  async (
    tx,
    input: {
      ids: readonly number[] | 'all';
      what: Steering;
      tenant: number | null;
      accounts: readonly number[] | null;
    },
    stamp,
  ): Promise<{ kind: 'changed' | 'none'; changed: number }> => {
    const rows = await tx.all<{ id: number; trace: string; recipient: string; account_id: number | null }>(
      `SELECT q.id, s.trace, q.recipient, s.account_id FROM queue q JOIN submission s ON s.id = q.submission_id
       WHERE q.state IN (SELECT value FROM json_each(?)) AND (? OR q.id IN (SELECT value FROM json_each(?)))
         AND (? IS NULL OR s.tenant = ?) AND (? IS NULL OR s.account_id IN (SELECT value FROM json_each(?)))
       ORDER BY q.id LIMIT 500`,
      FROM_STATES[input.what],
      Number(input.ids === 'all'),
      JSON.stringify(input.ids === 'all' ? [] : input.ids),
      ...sameTwice(input.tenant),
      ...sameTwice(input.accounts === null ? null : JSON.stringify(input.accounts)),
    );
    for (const row of rows) {
      const event = EVENTS[input.what];
      if (event !== undefined) await note(tx, row.trace, event, row.account_id, { to: row.recipient }, stamp);
      await steerRow(tx, row.id, input.what, stamp);
    }
    return { kind: rows.length > 0 ? 'changed' : 'none', changed: rows.length };
  },
);

/** Held rows can be released or cancelled, due rows tried, held or cancelled. */
const FROM_STATES = { retry: '[0]', hold: '[0]', release: '[1]', cancel: '[0,1]' } as const;
const EVENTS = { retry: undefined, hold: 'held', release: 'released', cancel: 'cancelled' } as const;

async function steerRow(tx: Write, id: number, what: Steering, stamp: Stamp): Promise<void> {
  switch (what) {
    case 'cancel':
      return removeRow(tx, id);
    case 'hold':
      await tx.run(`UPDATE queue SET state = 1, held_because = 'held on request' WHERE id = ?`, id);
      return;
    case 'retry':
    case 'release':
      await tx.run('UPDATE queue SET state = 0, held_because = NULL, next_at = ? WHERE id = ?', stamp.now, id);
  }
}
