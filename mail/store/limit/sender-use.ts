import { command, type Read, type Row, type Write } from '../engine/types.ts';

const INTERVAL_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Today and two weeks. */
const DAYS = 15;
/** Rows of one slice. */
const SLICE = 200;

/** Counters of a sender. */
export interface SenderUse extends Row {
  recipients: number;
  strangers: number;
  bounced: number;
  complaints: number;
  suppressed: number;
}

const NO_USE: SenderUse = { recipients: 0, strangers: 0, bounced: 0, complaints: 0, suppressed: 0 };

/** Adds to the counters of a sender. */
export async function countSenderUse(
  tx: Write,
  sender: string,
  counts: Partial<SenderUse>,
  now: number,
): Promise<void> {
  await tx.run('DELETE FROM sender_use WHERE sender = ? AND span = 0 AND begin <= ?', sender, now - HOUR_MS);
  const use = { ...NO_USE, ...counts };
  for (const [span, length] of [INTERVAL_MS, DAY_MS].entries()) {
    await tx.run(
      `INSERT INTO sender_use (sender, span, begin, recipients, new_recipients, bounced, complaints, suppressed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (sender, span, begin) DO UPDATE SET recipients = sender_use.recipients + excluded.recipients,
         new_recipients = sender_use.new_recipients + excluded.new_recipients, bounced = sender_use.bounced + excluded.bounced,
         complaints = sender_use.complaints + excluded.complaints, suppressed = sender_use.suppressed + excluded.suppressed`,
      sender,
      span,
      now - (now % length),
      use.recipients,
      use.strangers,
      use.bounced,
      use.complaints,
      use.suppressed,
    );
  }
}

/** Counters of the last hour and of the last days, today first; 0 for days without events. */
export async function senderUse(
  rx: Read,
  sender: string,
  now: number,
): Promise<{ hour: SenderUse; days: readonly SenderUse[] }> {
  const hour = await rx.get<SenderUse>(
    `SELECT coalesce(sum(recipients), 0) AS recipients, coalesce(sum(new_recipients), 0) AS strangers,
       coalesce(sum(bounced), 0) AS bounced, coalesce(sum(complaints), 0) AS complaints,
       coalesce(sum(suppressed), 0) AS suppressed
     FROM sender_use WHERE sender = ? AND span = 0 AND begin > ?`,
    sender,
    now - HOUR_MS,
  );
  const today = now - (now % DAY_MS);
  const rows = await rx.all<SenderUse & { begin: number }>(
    `SELECT begin, recipients, new_recipients AS strangers, bounced, complaints, suppressed FROM sender_use
     WHERE sender = ? AND span = 1 AND begin > ?`,
    sender,
    today - DAYS * DAY_MS,
  );
  const byDay = new Map(rows.map((row) => [row.begin, row]));
  const days = Array.from({ length: DAYS }, (_, back) => byDay.get(today - back * DAY_MS) ?? NO_USE);
  return { hour: hour ?? NO_USE, days };
}

/** Resets counters of suspicious events after a person's review. Usual volumes stay. */
export async function resetSenderUse(tx: Write, sender: string, now: number): Promise<void> {
  await tx.run('DELETE FROM sender_use WHERE sender = ? AND span = 0', sender);
  await tx.run('UPDATE sender_use SET bounced = 0, complaints = 0, suppressed = 0 WHERE sender = ?', sender);
  await tx.run('UPDATE sender_use SET new_recipients = 0 WHERE sender = ? AND begin = ?', sender, now - (now % DAY_MS));
}

/** Purges a slice of old counters, and of senders resumed long ago. */
export const purgeSenderUse = command('purge-sender-use', async (tx, _input: undefined, { now }): Promise<boolean> => {
  let more = false;
  for (const [span, keep] of [HOUR_MS, DAYS * DAY_MS].entries()) {
    const { changes } = await tx.run(
      `DELETE FROM sender_use WHERE (sender, span, begin) IN
         (SELECT sender, span, begin FROM sender_use WHERE span = ? AND begin <= ? LIMIT ?)`,
      span,
      now - keep,
      SLICE,
    );
    more ||= changes === SLICE;
  }
  const eased = await tx.run(
    `DELETE FROM paused_sender WHERE sender IN
       (SELECT sender FROM paused_sender WHERE paused_at IS NULL AND relaxed_until <= ? LIMIT ?)`,
    // Held mail of the sender is found by this row, also after a day of downtime.
    now - DAYS * DAY_MS,
    SLICE,
  );
  return more || eased.changes === SLICE;
});
