import { command, query, type Row, type Write } from './engine/types.ts';

/** A report about a message can come for this long after the last attempt at it. */
export const KEEP_DEPARTED_MS = 30 * 24 * 3_600_000;

/** Reports that are taken about one copy; mail has a delay or two, an answer, and an end. */
export const MOST_REPORTS = 10;

/** Rows of one slice. */
const SLICE = 200;

/** A copy that left, or is about to. */
export interface Departed extends Row {
  id: number;
  trace: string;
  tenant: number;
  account: number | null;
  /** Its real envelope sender. */
  sender: string;
  recipient: string;
  reports: number;
  /** Who is watched for it; '' for nobody. */
  sent_by: string;
}

/** Writes down that a row of the queue will be gone; not for senders that lead back in another way, or nowhere. */
export async function noteDeparted(tx: Write, id: number, at: number): Promise<void> {
  await tx.run(
    `INSERT INTO departed (id, trace, tenant, account_id, sender, recipient, sent_by, at)
     SELECT q.id, s.trace, s.tenant, s.account_id, s.sender, q.recipient, s.sent_by, ? FROM queue q
     JOIN submission s ON s.id = q.submission_id WHERE q.id = ? AND s.sender <> '' AND s.sender NOT LIKE 'SRS0=%' ON CONFLICT (id) DO UPDATE SET at = excluded.at`,
    at,
    id,
  );
}

/** The copy of a number: one that left, or one that still waits and may have arrived without our knowing. */
export const departedCopy = query('departed-copy', (rx, input: { id: number }): Promise<Departed | undefined> =>
  rx.get<Departed>(
    `SELECT id, trace, tenant, account_id AS account, sender, recipient, reports, sent_by FROM departed WHERE id = ?1
       UNION ALL SELECT q.id, s.trace, s.tenant, s.account_id, s.sender, q.recipient, 0, s.sent_by FROM queue q
       JOIN submission s ON s.id = q.submission_id WHERE q.id = ?1 AND s.sender <> '' LIMIT 1`,
    input.id,
  ),
);

/** Counts a report about a copy. Answers whether it says something new; `digest` tells reports apart. */
export async function countReport(
  tx: Write,
  { id, digest, at }: { id: number; digest: string; at: number },
): Promise<'new' | 'known' | 'enough'> {
  await noteDeparted(tx, id, at);
  const row = await tx.get<{ reports: number; seen: string }>('SELECT reports, seen FROM departed WHERE id = ?', id);
  if (row === undefined || row.reports >= MOST_REPORTS) return 'enough';
  const known = row.seen.split(' ').includes(digest);
  const seen = known ? row.seen : `${row.seen} ${digest}`.trim();
  await tx.run('UPDATE departed SET reports = reports + 1, seen = ? WHERE id = ?', seen, id);
  return known ? 'known' : 'new';
}

/** Forgets a slice of what left before `before`. Answers whether there may be more. */
export const forgetDeparted = command('forget-departed', async (tx, input: { before: number }): Promise<boolean> => {
  const { changes } = await tx.run(
    // Numbers grow with time, nearly: the oldest are looked at first, without an index of times.
    'DELETE FROM departed WHERE id IN (SELECT id FROM (SELECT id, at FROM departed ORDER BY id LIMIT ?2) WHERE at < ?1)',
    input.before,
    SLICE,
  );
  return changes === SLICE;
});
