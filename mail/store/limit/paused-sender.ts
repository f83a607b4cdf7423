import { command, lookup, type Read, type Row, type Stamp, type Write } from '../engine/types.ts';
import { recordJournalEvent } from '../journal/journal.ts';
import { resetSenderUse } from './sender-use.ts';

const DAY_MS = 24 * 3_600_000;
/** Maximum messages of one commit. */
const SLICE = 200;

/** Start of the hold reason of a paused sender's mail. */
export const PAUSED = 'its sender is paused';

/** A sender that the anomaly check monitors. */
export interface MonitoredSender {
  /** `account/12`, or the public id of a key. */
  sender: string;
  tenant: number;
  /** Null: a program. */
  account: number | null;
}

export interface PausedSender extends MonitoredSender {
  /** ms UTC. */
  pausedAt: number;
  /** A sentence without its full stop. */
  why: string;
  figures: Readonly<Record<string, number>>;
}

interface PausedRow extends Row {
  sender: string;
  tenant: number;
  account_id: number | null;
  paused_at: number;
  why: string;
  figures: string;
}

/** Hold reason of a sender's mail; undefined if it is not paused. */
export async function pauseHoldReason(rx: Read, sender: string): Promise<string | undefined> {
  const row = await rx.get<{ why: string }>(
    'SELECT reason AS why FROM paused_sender WHERE sender = ? AND paused_at IS NOT NULL',
    sender,
  );
  return row === undefined ? undefined : `${PAUSED}: ${row.why}`;
}

/** Reports whether a person resumed the sender a short time ago, which raises its limits. */
export async function isRelaxed(rx: Read, sender: string, now: number): Promise<boolean> {
  const row = await rx.get('SELECT 1 AS there FROM paused_sender WHERE sender = ? AND relaxed_until > ?', sender, now);
  return row !== undefined;
}

/** Pauses a sender; no effect if paused. The journal records it, and webhooks are notified. */
export async function pauseSender(
  tx: Write,
  { sender, tenant, account }: MonitoredSender,
  about: { why: string; figures: Readonly<Record<string, number>>; trace: string },
  stamp: Stamp,
): Promise<void> {
  const { why, figures, trace } = about;
  const { changes } = await tx.run(
    `INSERT INTO paused_sender (sender, tenant, account_id, paused_at, reason, figures) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (sender) DO UPDATE SET paused_at = excluded.paused_at, reason = excluded.reason, figures = excluded.figures,
       notified_at = NULL, relaxed_until = 0 WHERE paused_sender.paused_at IS NULL`,
    sender,
    tenant,
    account,
    stamp.now,
    why,
    JSON.stringify(figures),
  );
  if (changes === 1) await recordJournalEvent(tx, trace, 'paused', account, { because: why }, stamp, { tenant });
}

/** Holds a queue row whose sender is paused, even if it was released for another reason. */
export async function holdPaused(tx: Write, id: number, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ trace: string; tenant: number; account_id: number | null; to: string; sent_by: string }>(
    `SELECT s.trace, s.tenant, s.account_id, q.recipient AS "to", s.sent_by
     FROM queue q JOIN submission s ON s.id = q.submission_id WHERE q.id = ? AND q.state = 0`,
    id,
  );
  const because = row === undefined ? undefined : await pauseHoldReason(tx, row.sent_by);
  if (row === undefined || because === undefined) return;
  const { trace, tenant, account_id: account, to } = row;
  await tx.run('UPDATE queue SET state = 1, hold_reason = ? WHERE id = ?', because, id);
  await recordJournalEvent(tx, trace, 'held', account, { to, because }, stamp, { tenant });
}

/** Paused senders of a tenant by id. */
export const pausedSenders = lookup(
  'paused-senders',
  async (rx, input: { tenant: number; after: string; limit: number }): Promise<PausedSender[]> => {
    const rows = await rx.all<PausedRow>(
      `SELECT sender, tenant, account_id, paused_at, reason AS why, figures FROM paused_sender
       WHERE tenant = ? AND sender > ? AND paused_at IS NOT NULL ORDER BY sender LIMIT ?`,
      input.tenant,
      input.after,
      input.limit,
    );
    return rows.map(toPausedSender);
  },
);

/** Paused senders whose owners were not notified yet. */
export const unnotifiedPauses = lookup(
  'unnotified-pauses',
  async (rx, input: { limit: number }): Promise<PausedSender[]> => {
    const rows = await rx.all<PausedRow>(
      `SELECT sender, tenant, account_id, paused_at, reason AS why, figures FROM paused_sender
     WHERE paused_at IS NOT NULL AND notified_at IS NULL LIMIT ?`,
      input.limit,
    );
    return rows.map(toPausedSender);
  },
);

function toPausedSender({ account_id: account, paused_at: pausedAt, figures, ...row }: PausedRow): PausedSender {
  return {
    sender: row.sender,
    tenant: row.tenant,
    why: row.why,
    account,
    pausedAt,
    figures: JSON.parse(figures) as Record<string, number>,
  };
}

export interface ResumeSenderResult {
  /** `none`: the tenant has no such paused sender, and nothing is held for it. */
  kind: 'resumed' | 'none';
  /** Number of released recipients and messages. */
  released: number;
  /** More mail is held: call again. */
  more: boolean;
}

/**
 * Resumes a sender, and releases a slice of its held mail. For a day its limits are raised and its past counts are
 * reset, so that it is not paused again at once.
 */
export const resumeSender = command(
  'resume-sender',
  async (tx, { sender, tenant }: { sender: string; tenant: number }, stamp): Promise<ResumeSenderResult> => {
    const { changes } = await tx.run(
      `UPDATE paused_sender SET paused_at = NULL, relaxed_until = ?
       WHERE sender = ? AND tenant = ? AND paused_at IS NOT NULL`,
      stamp.now + DAY_MS,
      sender,
      tenant,
    );
    if (changes === 1) await resetSenderUse(tx, sender, stamp.now);
    // A sender that was paused again meanwhile releases nothing.
    else if ((await pauseHoldReason(tx, sender)) !== undefined) return { kind: 'none', released: 0, more: false };
    const waiting = await releaseWhole(tx, { sender, tenant }, stamp);
    const rows = await releaseRows(tx, { sender, tenant }, stamp);
    const more = waiting === SLICE || rows === SLICE;
    const released = waiting + rows;
    return { kind: changes === 1 || released > 0 ? 'resumed' : 'none', released, more };
  },
);

interface HeldMail extends Row {
  id: number;
  trace: string;
  account_id: number | null;
  recipient: string;
}

async function releaseWhole(
  tx: Write,
  { sender, tenant }: { sender: string; tenant: number },
  stamp: Stamp,
): Promise<number> {
  const rows = await tx.all<HeldMail>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient FROM submission s INDEXED BY submission_sent_by
       CROSS JOIN scheduled d ON d.submission_id = s.id
     WHERE s.sent_by = ?1 AND s.sent_by <> '' AND s.tenant = ?2 AND substr(d.hold_reason, 1, length(?3)) = ?3
     ORDER BY s.id LIMIT ?4`,
    sender,
    tenant,
    PAUSED,
    SLICE,
  );
  for (const { id, trace, account_id: account } of rows) {
    await tx.run('UPDATE scheduled SET hold_reason = NULL, attempts = 0 WHERE submission_id = ?', id);
    await recordJournalEvent(tx, trace, 'released', account, { outbox: id }, stamp, { tenant });
  }
  return rows.length;
}

async function releaseRows(
  tx: Write,
  { sender, tenant }: { sender: string; tenant: number },
  stamp: Stamp,
): Promise<number> {
  const rows = await tx.all<HeldMail>(
    `SELECT q.id, s.trace, s.account_id, q.recipient FROM submission s INDEXED BY submission_sent_by
       CROSS JOIN queue q ON q.submission_id = s.id
     WHERE s.sent_by = ?1 AND s.sent_by <> '' AND s.tenant = ?2 AND q.state = 1
       AND substr(q.hold_reason, 1, length(?3)) = ?3
     ORDER BY s.id LIMIT ?4`,
    sender,
    tenant,
    PAUSED,
    SLICE,
  );
  for (const { id, trace, account_id: account, recipient: to } of rows) {
    await tx.run('UPDATE queue SET state = 0, hold_reason = NULL, next_at = ? WHERE id = ?', stamp.now, id);
    await recordJournalEvent(tx, trace, 'released', account, { to }, stamp, { tenant });
  }
  return rows.length;
}
