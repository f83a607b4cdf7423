import { command, type Stamp, type Write } from '../engine/types.ts';
import { recordSentCopy } from './sent-copies.ts';
import { recordJournalEvent } from '../journal/journal.ts';
import { holdPaused } from '../limit/paused-sender.ts';
import { laneOf } from './queue-lane.ts';
import { textKey } from '../../message/address.ts';
import { isUnknownRecipient, suppress } from './suppression.ts';
import type { TlsResult } from './tls-result.ts';
import { collectBlob } from '../retention/purge.ts';

/** An outgoing message: data common to all recipients. */
export interface NewSubmission {
  trace: string;
  tenant: number;
  /** Null: the server itself. */
  account: number | null;
  blob: number;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  smtputf8: boolean;
  eightBit: boolean;
  ret: string;
  envid: string;
  /** Signing domains; empty: the envelope sender's, else the server's. Null: unsigned. */
  signAs: readonly string[] | null;
  size: number;
  /** REQUIRETLS: no hop without verified TLS. RFC 8689 */
  requireTls?: boolean;
  /** Header lines before the octets, for this submission only; one character an octet. */
  prefix?: string;
  /** Subject of the anomaly check; '' or undefined: none. */
  sentBy?: string;
  /** ARC chain validation for the seal: none, pass, fail; '': add no seal. */
  arc?: string;
}

export interface NewQueueRow {
  recipient: string;
  domain: string;
  notify: string;
  orcpt: string;
  /** Account that gets the message if delivery fails. */
  fallback?: number;
}

/** Queues a message for outside recipients. `hold`: reason to hold it. */
export async function enqueue(
  tx: Write,
  submission: NewSubmission,
  rows: readonly NewQueueRow[],
  hold: string | null,
  stamp: Stamp,
): Promise<number[]> {
  const id = await addSubmission(tx, submission, stamp);
  const { trace, tenant, account } = submission;
  return addRows(tx, { submission: id, trace, tenant, account }, rows, hold, stamp);
}

/** Marker in the list of signing domains: unsigned. No valid domain. */
export const UNSIGNED = '-';

export async function addSubmission(tx: Write, submission: NewSubmission, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO submission (trace, tenant, account_id, blob_id, sender, smtputf8, eight_bit, ret, envid, sign_as, size, created_at, prefix, arc, require_tls, sent_by, signers)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
       (SELECT json_group_object(name, tenant) FROM domain WHERE state = 1 AND name IN (SELECT value FROM json_each(?, '$'))))`,
    submission.trace,
    submission.tenant,
    submission.account,
    submission.blob,
    submission.sender,
    Number(submission.smtputf8),
    Number(submission.eightBit),
    submission.ret,
    submission.envid,
    submission.signAs?.join(' ') ?? UNSIGNED,
    submission.size + (submission.prefix?.length ?? 0),
    stamp.now,
    submission.prefix ?? '',
    submission.arc ?? '',
    Number(submission.requireTls ?? false),
    submission.sentBy ?? '',
    JSON.stringify(signersOf(submission)),
  );
  return id;
}

/** Signing domains. The sender was validated on acceptance; an invalid one has no domain. */
function signersOf({ signAs, sender }: NewSubmission): readonly string[] {
  return signAs?.length === 0 ? [sender.slice(sender.lastIndexOf('@') + 1)] : (signAs ?? []);
}

export async function addRows(
  tx: Write,
  message: { submission: number; trace: string; tenant: number; account: number | null },
  rows: readonly NewQueueRow[],
  hold: string | null,
  stamp: Stamp,
): Promise<number[]> {
  const ids: number[] = [];
  for (const row of rows) {
    const lane = await laneOf(tx, message, row.domain);
    const queued = await tx.run(
      `INSERT INTO queue (lane_id, submission_id, recipient, domain, state, hold_reason, next_at, notify, orcpt, created_at, fallback_account)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      lane,
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
      const { trace, tenant, account } = message;
      await recordJournalEvent(tx, trace, 'held', account, { to: row.recipient, because: hold }, stamp, { tenant });
    }
  }
  return ids;
}

/**
 * Records attempts with the next retry time before connecting, so that a crash loop cannot flood a remote host. Returns
 * the rows that still exist.
 */
export const beginAttempts = command(
  'begin-attempts',
  async (tx, input: { items: readonly { id: number; nextAt: number }[] }, stamp): Promise<number[]> => {
    const begun: number[] = [];
    for (const { id, nextAt } of input.items) {
      const { changes } = await tx.run(
        `UPDATE queue SET attempts = attempts + 1, next_at = ?, last_at = ? WHERE id = ? AND state = 0
           AND NOT EXISTS (SELECT 1 FROM submission s CROSS JOIN paused_sender p ON p.sender = s.sent_by
             WHERE s.id = queue.submission_id AND p.paused_at IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM agent_hold h CROSS JOIN submission s ON s.id = queue.submission_id
             CROSS JOIN agent_send g ON g.trace = s.trace WHERE h.at > 0 AND g.tenant = h.tenant
               AND (h.credential IS NULL OR g.credential = h.credential) AND (g.at, g.id) < (h.at, h.send))
           AND NOT EXISTS (SELECT 1 FROM submission s CROSS JOIN json_each(s.signers, '$') j WHERE s.id = queue.submission_id
             AND NOT EXISTS (SELECT 1 FROM domain d WHERE d.name = j.key AND d.state = 1 AND d.tenant = CAST(j.value AS INTEGER)))`,
        nextAt,
        stamp.now,
        id,
      );
      if (changes === 0) {
        await holdStranded(tx, id, stamp);
        await holdPaused(tx, id, stamp);
        await tx.hooks.onNotSent(tx, id, stamp);
        continue;
      }
      await tx.run('INSERT INTO attempt (queue_id, at) VALUES (?, ?)', id, stamp.now);
      begun.push(id);
    }
    return begun;
  },
);

/**
 * Holds a row whose signing domain was removed, as another tenant may own it and its keys by now. It can be released
 * when the tenant owns the domain again.
 */
async function holdStranded(tx: Write, id: number, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ trace: string; tenant: number; account_id: number | null; to: string; domain: string }>(
    `SELECT s.trace, s.tenant, s.account_id, q.recipient AS "to", j.key AS domain
     FROM queue q JOIN submission s ON s.id = q.submission_id CROSS JOIN json_each(s.signers, '$') j
     WHERE q.id = ? AND q.state = 0
       AND NOT EXISTS (SELECT 1 FROM domain d WHERE d.name = j.key AND d.state = 1 AND d.tenant = CAST(j.value AS INTEGER)) LIMIT 1`,
    id,
  );
  if (row === undefined) return;
  const { trace, tenant, account_id: account, to, domain } = row;
  const because = `${domain} is not verified here any more for who wrote this; verify it again, then release this`;
  await tx.run('UPDATE queue SET state = 1, hold_reason = ? WHERE id = ?', because, id);
  await recordJournalEvent(tx, trace, 'held', account, { to, because }, stamp, { tenant });
}

/** Result of an attempt for one recipient. Texts of peers are sanitized. */
export interface AttemptResult {
  id: number;
  /** Trace id and recipient for the journal, since the row may be deleted. */
  trace?: string;
  to?: string;
  outcome: 'delivered' | 'failed' | 'deferred';
  /** Mail with the null sender. */
  automatic?: true;
  /** Remote host name and address, empty when none was reached. */
  host: string;
  ip: string;
  /** SMTP reply code, 0 when there was none. */
  code: number;
  /** Enhanced status code; derived from the code or the failure if the peer sent none. */
  status: string;
  /** Reply of the peer or our own text, one line. */
  text: string;
  /** Version, cipher and how it was verified; `none`; '' when no server was reached. */
  tls: string;
  /** TLS-RPT results of this attempt, counted in its commit. RFC 8460. */
  tlsResults?: readonly TlsResult[];
  at: number;
  /** For 'deferred': the next attempt, ms UTC. */
  nextAt: number;
  /** For 'deferred': smarthost of all further attempts. */
  via?: number;
}

/** Records the outcome of an attempt; deletes a delivered or bounced row. */
export async function endAttempt(tx: Write, end: AttemptResult, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ trace: string; recipient: string; account_id: number | null; tenant: number }>(
    `SELECT s.trace, q.recipient, s.account_id, s.tenant FROM queue q JOIN submission s ON s.id = q.submission_id
     WHERE q.id = ?`,
    end.id,
  );
  const { changes } = await tx.run(
    `UPDATE attempt SET ended_at = ?, outcome = ?, host = ?, ip = ?, code = ?, status = ?, text = ?, tls = ?
     WHERE id = (SELECT max(id) FROM attempt WHERE queue_id = ?) AND ended_at IS NULL`,
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
  const { host, ip, code, status, text, tls, outcome } = end;
  if (row === undefined) {
    if (changes === 1) await noteTooLate(tx, end, stamp);
    return;
  }
  const { tenant } = row;
  const again = outcome === 'deferred' ? { next: new Date(end.nextAt).toISOString() } : {};
  const reported = { to: row.recipient, host, ip, code, status, text, tls, ...again };
  await recordJournalEvent(tx, row.trace, outcome, row.account_id, reported, stamp, { tenant });
  if (outcome === 'failed' && isUnknownRecipient(status)) {
    const learnt = { reason: 'hard_bounce', source: 'reply', said: text } as const;
    const { trace, account_id: account } = row;
    await suppress(tx, { tenant, key: textKey(row.recipient), ...learnt, trace, account }, stamp);
  }
  if (outcome !== 'deferred') {
    await recordSentCopy(tx, end.id, stamp.now);
    return removeRow(tx, end.id);
  }
  if (end.via !== undefined) {
    const because = 'this server was refused there, or reaches no mail server';
    const route = end.via === -1 ? 'the smarthost of this server' : `route ${end.via}`;
    await recordJournalEvent(tx, row.trace, 'rerouted', row.account_id, { to: row.recipient, route, because }, stamp, {
      tenant,
    });
  }
  await tx.run(
    'UPDATE queue SET next_at = ?, last_status = ?, last_text = ?, last_tls = ?, route = coalesce(route, ?) WHERE id = ?',
    end.nextAt,
    status,
    text,
    tls,
    end.via ?? null,
    end.id,
  );
}

/** Records a delivery that succeeded although the message was cancelled during the attempt. */
async function noteTooLate(tx: Write, { trace, to = '', host, status, text, outcome }: AttemptResult, stamp: Stamp) {
  if (trace === undefined) return;
  const whose = await tx.get<{ tenant: number | null; account_id: number | null }>(
    `SELECT tenant, account_id FROM journal WHERE trace = ? AND event = 'cancelled' AND detail ->> 'to' = ?
     ORDER BY id DESC LIMIT 1`,
    trace,
    to,
  );
  const about = whose?.tenant == null ? {} : { tenant: whose.tenant };
  const detail = { to, host, status, text, after: 'it was cancelled' };
  await recordJournalEvent(tx, trace, outcome, whose?.account_id ?? null, detail, stamp, about);
}

/** Deletes a queue row; with the last row of a message also its submission. */
export async function removeRow(tx: Write, id: number): Promise<void> {
  const row = await tx.get<{ submission_id: number }>('DELETE FROM queue WHERE id = ? RETURNING submission_id', id);
  if (row !== undefined) await dropSubmission(tx, row.submission_id);
}

/** Deletes a submission without rows, and its unreferenced octets. */
export async function dropSubmission(tx: Write, id: number): Promise<void> {
  const done = await tx.get<{ blob_id: number }>(
    `DELETE FROM submission WHERE id = ? AND NOT EXISTS (SELECT 1 FROM queue WHERE submission_id = ?) RETURNING blob_id`,
    id,
    id,
  );
  // The file of a large message stays until the sweep, since a bounce may be reading it.
  if (done !== undefined) await collectBlob(tx, done.blob_id);
}

/** Values of `dsn_sent`: DSNs sent for a row. */
export const DELAY_DSN_SENT = 1;
export const FINAL_DSN_SENT = 2;

export const markDsnSent = async (
  tx: Write,
  ids: readonly number[],
  sent: typeof DELAY_DSN_SENT | typeof FINAL_DSN_SENT,
): Promise<void> => {
  for (const id of ids) await tx.run('UPDATE queue SET dsn_sent = ? WHERE id = ?', sent, id);
};
