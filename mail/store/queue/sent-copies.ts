import { command, lookup, type Row, type Write } from '../engine/types.ts';

/** Retention of sent copies: reports arrive up to this time after the last attempt. */
export const KEEP_SENT_COPIES_MS = 30 * 24 * 3_600_000;

/** Maximum reports accepted for one copy. */
export const MOST_REPORTS = 10;

/** Rows of one slice. */
const SLICE = 200;

/** A relayed or queued copy. */
export interface SentCopy extends Row {
  id: number;
  trace: string;
  tenant: number;
  account: number | null;
  /** Its original envelope sender. */
  sender: string;
  recipient: string;
  reports: number;
  /** Subject of the anomaly check; '' for none. */
  sent_by: string;
}

/** Records a relayed copy before its queue row is deleted, except for rewritten or null senders. */
export async function recordSentCopy(tx: Write, id: number, at: number): Promise<void> {
  await tx.run(
    `INSERT INTO sent_copy (id, trace, tenant, account_id, sender, recipient, sent_by, at)
     SELECT q.id, s.trace, s.tenant, s.account_id, s.sender, q.recipient, s.sent_by, ? FROM queue q
     JOIN submission s ON s.id = q.submission_id WHERE q.id = ? AND s.sender <> '' AND s.sender NOT LIKE 'SRS0=%' ON CONFLICT (id) DO UPDATE SET at = excluded.at`,
    at,
    id,
  );
}

/** The copy with an id: relayed, or queued and possibly delivered without a reply. */
export const findSentCopy = lookup('sent-copy', (rx, input: { id: number }): Promise<SentCopy | undefined> =>
  rx.get<SentCopy>(
    `SELECT id, trace, tenant, account_id AS account, sender, recipient, reports, sent_by FROM sent_copy WHERE id = ?1
       UNION ALL SELECT q.id, s.trace, s.tenant, s.account_id, s.sender, q.recipient, 0, s.sent_by FROM queue q
       JOIN submission s ON s.id = q.submission_id WHERE q.id = ?1 AND s.sender <> '' LIMIT 1`,
    input.id,
  ),
);

/** Counts a report about a copy. Returns whether it is new; `digest` identifies a report. */
export async function countReport(
  tx: Write,
  { id, digest, at }: { id: number; digest: string; at: number },
): Promise<'new' | 'known' | 'enough'> {
  await recordSentCopy(tx, id, at);
  const row = await tx.get<{ reports: number; seen: string }>('SELECT reports, seen FROM sent_copy WHERE id = ?', id);
  if (row === undefined || row.reports >= MOST_REPORTS) return 'enough';
  const known = row.seen.split(' ').includes(digest);
  const seen = known ? row.seen : `${row.seen} ${digest}`.trim();
  await tx.run('UPDATE sent_copy SET reports = reports + 1, seen = ? WHERE id = ?', seen, id);
  return known ? 'known' : 'new';
}

/** Purges a slice of copies from before `before`. Returns whether there may be more. */
export const purgeSentCopies = command('purge-sent-copies', async (tx, input: { before: number }): Promise<boolean> => {
  const { changes } = await tx.run(
    // Ids ascend with time, nearly: the oldest are read first without an index of times.
    'DELETE FROM sent_copy WHERE id IN (SELECT id FROM (SELECT id, at FROM sent_copy ORDER BY id LIMIT ?2) WHERE at < ?1)',
    input.before,
    SLICE,
  );
  return changes === SLICE;
});
