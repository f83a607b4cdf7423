import { textKey } from '../../message/address.ts';
import { command, lookup, query, type Read, type Stamp, type Write } from '../engine/types.ts';
import { DELETED } from '../mailbox/flags.ts';
import { conditionalCommand } from '../account/state-guard.ts';
import { type ChangesAfter, LAST_ROW, type ObjectChange, type ObjectChanges } from '../account/object-change.ts';
import { WAITS } from '../journal/delivery-updates.ts';
import { tombstoneFloor } from '../account/tombstone.ts';
import { bumpState, recordTombstone, stateOf } from '../account/type-state.ts';
import type { DeliveredState } from '../journal/delivery-updates.ts';

/** An envelope address with its SMTP parameters, as given by the client. RFC 8621 7. */
export interface EnvelopeAddress {
  email: string;
  parameters: Readonly<Record<string, string | null>> | null;
}

/** A message that an account sends by JMAP. */
export interface NewEmailSubmission {
  account: number;
  trace: string;
  identity: number;
  email: number;
  thread: number;
  mailFrom: EnvelopeAddress;
  rcptTo: readonly EnvelopeAddress[];
  /** ms UTC. */
  sendAt: number;
}

export type Undo = 'pending' | 'final' | 'canceled';
export interface SubmissionRecipient extends EnvelopeAddress {
  delivered: DeliveredState;
  /** Reply of an SMTP server, or in its form. */
  reply: string;
  displayed: 'unknown' | 'yes';
}

/** A stored EmailSubmission, for 30 days after its end. */
export interface StoredSubmission {
  id: number;
  trace: string;
  identity: number;
  email: number;
  thread: number;
  mailFrom: EnvelopeAddress;
  rcptTo: SubmissionRecipient[];
  sendAt: number;
  undo: Undo;
}

/** Records an EmailSubmission before it is queued; its trace links later events. */
export async function addEmailSubmission(tx: Write, what: NewEmailSubmission): Promise<number> {
  const modseq = await bumpState(tx, what.account, 'EmailSubmission');
  const { id } = await tx.run(
    `INSERT INTO email_submission (account_id, trace, identity, email, thread, mail_from, undo, send_at, created_modseq, modseq)
     VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)`,
    what.account,
    what.trace,
    what.identity,
    what.email,
    what.thread,
    JSON.stringify(what.mailFrom),
    what.sendAt,
    modseq,
    modseq,
  );
  for (const [nth, { email, parameters }] of what.rcptTo.entries()) {
    await tx.run(
      `INSERT INTO email_submission_recipient (submission, nth, email, key, parameters, delivered, reply)
       VALUES (?, ?, ?, ?, ?, 'queued', ?)`,
      id,
      nth,
      email,
      textKey(email),
      parameters && JSON.stringify(parameters),
      WAITS,
    );
  }
  return id;
}

interface SubmissionRow extends Record<string, string | number | null> {
  id: number;
  trace: string;
  identity: number;
  email: number;
  thread: number;
  mail_from: string;
  undo: Undo;
  send_at: number;
}

/** Submissions of an account, by `ids` or the newest, and the state. */
export const submissionsOf = query(
  'submissions-of',
  async (
    rx,
    { account, ids, limit }: { account: number; ids: readonly number[] | null; limit: number },
  ): Promise<{ submissions: StoredSubmission[]; state: number }> => {
    const rows = await rx.all<SubmissionRow>(
      `SELECT id, trace, identity, email, thread, mail_from, undo, send_at FROM email_submission
       WHERE account_id = ?1 AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2))) ORDER BY id DESC LIMIT ?3`,
      account,
      ids && JSON.stringify(ids),
      limit,
    );
    const recipients = await recipientsOf(rx, rows);
    const submissions = rows.map(({ mail_from: from, send_at: sendAt, ...row }) => ({
      ...row,
      sendAt,
      mailFrom: JSON.parse(from) as EnvelopeAddress,
      rcptTo: recipients.get(row.id) ?? [],
    }));
    return { submissions, state: await stateOf(rx, account, 'EmailSubmission') };
  },
);

async function recipientsOf(rx: Read, rows: readonly SubmissionRow[]): Promise<Map<number, SubmissionRecipient[]>> {
  const found = await rx.all<{
    submission: number;
    email: string;
    parameters: string | null;
    delivered: DeliveredState;
    reply: string;
    displayed: 'unknown' | 'yes';
  }>(
    `SELECT submission, email, parameters, delivered, reply, displayed FROM email_submission_recipient
     WHERE submission IN (SELECT value FROM json_each(?)) ORDER BY submission, nth`,
    JSON.stringify(rows.map((row) => row.id)),
  );
  const by = new Map<number, SubmissionRecipient[]>();
  for (const { submission, parameters, ...one } of found) {
    const read = parameters === null ? null : (JSON.parse(parameters) as EnvelopeAddress['parameters']);
    by.set(submission, [...(by.get(submission) ?? []), { ...one, parameters: read }]);
  }
  return by;
}

/** Data for filtering and sorting submissions. */
export interface SubmissionFacts {
  id: number;
  identity: number;
  email: number;
  thread: number;
  undo: Undo;
  sendAt: number;
}

/** Maximum submissions that /query searches, the newest of the account. */
export const MOST_SUBMISSIONS = 50_000;

/** Submissions for /query: a scan. */
export const submissionFacts = query(
  'submission-facts',
  async (rx, { account }: { account: number }): Promise<{ facts: SubmissionFacts[]; state: number }> => {
    const facts = await rx.all<SubmissionFacts & Record<string, string | number>>(
      `SELECT id, identity, email, thread, undo, send_at AS sendAt FROM email_submission
       WHERE account_id = ? ORDER BY id DESC LIMIT ?`,
      account,
      MOST_SUBMISSIONS,
    );
    return { facts, state: await stateOf(rx, account, 'EmailSubmission') };
  },
);

/** Submissions that changed after a state. */
export const submissionChanges = query(
  'submission-changes',
  async (rx, input: ChangesAfter): Promise<ObjectChanges> => {
    const { account, modseq, row, limit } = input;
    const changes = await rx.all<ObjectChange>(
      `SELECT * FROM (
       SELECT id, created_modseq AS created, modseq, 0 AS gone FROM email_submission WHERE account_id = ?1 AND modseq >= ?2
       UNION ALL SELECT object_id, created_modseq, modseq, 1 FROM tombstone
         WHERE account_id = ?1 AND type = 'EmailSubmission' AND modseq >= ?2)
     WHERE modseq > ?2 OR id > ?3 ORDER BY modseq, id LIMIT ?4`,
      account,
      modseq,
      Math.min(row, LAST_ROW),
      limit,
    );
    const [state, floor] = [
      await stateOf(rx, account, 'EmailSubmission'),
      await tombstoneFloor(rx, account, 'EmailSubmission'),
    ];
    return { changes, state, floor };
  },
);

/** A visible message of an account, to be sent. */
export interface EmailToSend extends Record<string, number> {
  id: number;
  thread: number;
  blob: number;
  /** Octets of the blob, and of its header. */
  size: number;
  headerLength: number;
}

export const emailToSend = lookup(
  'email-to-send',
  (rx, { account, id }: { account: number; id: number }): Promise<EmailToSend | undefined> =>
    rx.get<EmailToSend>(
      `SELECT e.id, e.thread_id AS thread, e.blob_id AS blob, b.size, m.header_length AS headerLength
       FROM email e JOIN blob b ON b.id = e.blob_id JOIN email_meta m ON m.email_id = e.id
       WHERE e.id = ? AND e.account_id = ?
         AND EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id AND n.flags & ? = 0)`,
      id,
      account,
      DELETED,
    ),
);

interface Owned extends Record<string, string | number> {
  id: number;
  trace: string;
  undo: Undo;
  created_modseq: number;
}

/** One submission of an account, in a command. */
export function ownSubmission(tx: Read, account: number, id: number): Promise<Owned | undefined> {
  return tx.get<Owned>(
    'SELECT id, trace, undo, created_modseq FROM email_submission WHERE id = ? AND account_id = ?',
    id,
    account,
  );
}

/** Deletes an EmailSubmission; its queued mail is still sent. RFC 8621 7.5. */
const remove = command(
  'remove-submission',
  async (tx, { account, id }: { account: number; id: number }, stamp): Promise<{ kind: 'removed' | 'missing' }> => {
    const row = await ownSubmission(tx, account, id);
    if (row === undefined) return { kind: 'missing' };
    await deleteSubmission(tx, { account, id, created: row.created_modseq }, stamp);
    return { kind: 'removed' };
  },
);

export const removeSubmission = conditionalCommand('EmailSubmission', remove);

/** Retention after the end of a submission. */
export const KEEP_SUBMISSIONS_MS = 30 * 24 * 3_600_000;
const SLICE = 100;

/** Purges a slice of submissions that ended before `before`. Returns whether there may be more. */
export const purgeSubmissions = command(
  'purge-submissions',
  async (tx, { before }: { before: number }, stamp): Promise<boolean> => {
    const rows = await tx.all<{ account: number; id: number; created: number }>(
      `SELECT account_id AS account, id, created_modseq AS created FROM email_submission
       WHERE ended_at < ? ORDER BY ended_at LIMIT ?`,
      before,
      SLICE,
    );
    for (const row of rows) await deleteSubmission(tx, row, stamp);
    return rows.length === SLICE;
  },
);

async function deleteSubmission(
  tx: Write,
  { account, id, created }: { account: number; id: number; created: number },
  stamp: Stamp,
): Promise<void> {
  const modseq = await bumpState(tx, account, 'EmailSubmission');
  await tx.run('DELETE FROM email_submission_recipient WHERE submission = ?', id);
  await tx.run('DELETE FROM email_submission WHERE id = ?', id);
  await recordTombstone(tx, account, 'EmailSubmission', { id, thread: null, created }, modseq, stamp);
}
