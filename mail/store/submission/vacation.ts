import { command, lookup, query, type Stamp, type Write } from '../engine/types.ts';
import { DELETED } from '../mailbox/flags.ts';
import { bumpState, stateOf } from '../account/type-state.ts';

/** Vacation reply of an account. Times in ms UTC. RFC 8621 8. */
export interface Vacation {
  enabled: boolean;
  fromAt: number | null;
  toAt: number | null;
  subject: string | null;
  textBody: string | null;
  htmlBody: string | null;
}

export const NO_VACATION: Vacation = {
  enabled: false,
  fromAt: null,
  toAt: null,
  subject: null,
  textBody: null,
  htmlBody: null,
};

interface VacationRow extends Record<string, string | number | null> {
  enabled: number;
  from_at: number | null;
  to_at: number | null;
  subject: string | null;
  text_body: string | null;
  html_body: string | null;
}

export const vacationOf = query(
  'vacation-of',
  async (rx, { account }: { account: number }): Promise<{ vacation: Vacation; state: number }> => {
    const row = await rx.get<VacationRow>(
      'SELECT enabled, from_at, to_at, subject, text_body, html_body FROM vacation WHERE account_id = ?',
      account,
    );
    return {
      vacation: row === undefined ? NO_VACATION : toVacation(row),
      state: await stateOf(rx, account, 'VacationResponse'),
    };
  },
);

function toVacation(row: VacationRow): Vacation {
  return {
    enabled: row.enabled === 1,
    fromAt: row.from_at,
    toAt: row.to_at,
    subject: row.subject,
    textBody: row.text_body,
    htmlBody: row.html_body,
  };
}

/** Stores the vacation reply of an account. */
export const storeVacation = command(
  'store-vacation',
  async (tx, { account, vacation }: { account: number; vacation: Vacation }): Promise<void> => {
    await bumpState(tx, account, 'VacationResponse');
    const { enabled, fromAt, toAt, subject, textBody, htmlBody } = vacation;
    await tx.run(
      `INSERT INTO vacation (account_id, enabled, from_at, to_at, subject, text_body, html_body) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (account_id) DO UPDATE SET enabled = excluded.enabled, from_at = excluded.from_at, to_at = excluded.to_at,
         subject = excluded.subject, text_body = excluded.text_body, html_body = excluded.html_body`,
      account,
      Number(enabled),
      fromAt,
      toAt,
      subject,
      textBody,
      htmlBody,
    );
  },
);

/** Records a received message that may get a vacation reply. Part of its delivery's commit. */
export async function noteForVacation(
  tx: Write,
  arrived: { account: number; email: number },
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO vacation_job (account_id, email_id, at)
     SELECT ?1, ?2, ?3 FROM vacation WHERE account_id = ?1 AND enabled = 1
       AND coalesce(from_at, 0) <= ?3 AND (to_at IS NULL OR to_at > ?3)`,
    arrived.account,
    arrived.email,
    stamp.now,
  );
}

/** A message that may get a vacation reply. */
export interface VacationJob extends Record<string, number | string> {
  id: number;
  account: number;
  /** The primary address of the account. */
  address: string;
  /** Header lines of this recipient before the blob; one character an octet. */
  trace: string;
  blob: number;
  headerLength: number;
  /** Decoded subject. */
  subject: string;
}

/** The oldest jobs, and jobs of deleted messages. */
export const vacationJobs = lookup(
  'vacation-jobs',
  async (rx, { limit }: { limit: number }): Promise<{ jobs: VacationJob[]; void: number[] }> => {
    const rows = await rx.all<{ id: number } & Record<string, string | number | null>>(
      `SELECT j.id, j.account_id AS account, a.address, e.trace, e.blob_id AS blob, ifnull(i.header_length, v.header_length) AS headerLength,
         ifnull(i.subject, v.subject) AS subject
       FROM vacation_job j LEFT JOIN account a ON a.id = j.account_id AND a.state = 1
         LEFT JOIN email e ON e.id = j.email_id AND EXISTS (SELECT 1 FROM entry n JOIN mailbox f ON f.id = n.mailbox_id
           WHERE n.email_id = e.id AND n.flags & ? = 0 AND coalesce(f.role, '') <> 'junk')
         LEFT JOIN message_index i ON i.blob_id = e.blob_id
         LEFT JOIN email_meta_v1 v ON i.blob_id IS NULL AND v.email_id = e.id
       ORDER BY j.id LIMIT ?`,
      DELETED,
      limit,
    );
    const whole = rows.filter((row) => row['address'] !== null && row['blob'] !== null) as VacationJob[];
    const open = new Set(whole.map((row) => row.id));
    return { jobs: whole, void: rows.map((row) => row.id).filter((id) => !open.has(id)) };
  },
);

/** Deletes jobs without a reply. */
export const dropVacationJobs = command(
  'drop-vacation-jobs',
  async (tx, { ids }: { ids: readonly number[] }): Promise<void> => {
    await tx.run('DELETE FROM vacation_job WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids));
  },
);

/** Minimum interval between replies to one sender. */
export const VACATION_PERIOD_MS = 7 * 24 * 3_600_000;

/**
 * Claims a job and its sender's reply. False: it was claimed before, or the sender had a reply. Part of the commit that
 * sends, so that a crash neither loses nor repeats a reply.
 */
export async function takeVacationTurn(
  tx: Write,
  { id, account, key }: { id: number; account: number; key: string },
  stamp: Stamp,
): Promise<boolean> {
  const job = await tx.run('DELETE FROM vacation_job WHERE id = ?', id);
  if (job.changes === 0) return false;
  const { changes } = await tx.run(
    `INSERT INTO vacation_reply (account_id, key, at) VALUES (?1, ?2, ?3)
     ON CONFLICT (account_id, key) DO UPDATE SET at = excluded.at WHERE vacation_reply.at <= ?4`,
    account,
    key,
    stamp.now,
    stamp.now - VACATION_PERIOD_MS,
  );
  return changes === 1;
}

const SLICE = 200;

/** Purges a slice of old replied senders. Returns whether there may be more. */
export const purgeVacationReplies = command(
  'purge-vacation-replies',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM vacation_reply WHERE (account_id, key) IN
         (SELECT account_id, key FROM vacation_reply WHERE at <= ? LIMIT ?)`,
      stamp.now - VACATION_PERIOD_MS,
      SLICE,
    );
    return changes === SLICE;
  },
);

/** Lookup keys of all addresses of an account. */
export const addressKeysOf = lookup(
  'address-keys-of',
  async (rx, { account }: { account: number }): Promise<string[]> => {
    const rows = await rx.all<{ key: string }>('SELECT key FROM own_address WHERE account_id = ? LIMIT 1000', account);
    return rows.map(({ key }) => key);
  },
);
