import { query, type Write } from '../engine/types.ts';

/**
 * Counters: received copies (`received` excludes Junk), submitted messages (`sent`), and results for each outside
 * recipient; `deferred` counts attempts.
 */
export const JOURNAL_COUNTERS = [
  'received',
  'junk',
  'refused',
  'sent',
  'delivered',
  'deferred',
  'bounced',
  'complained',
  'suppressed',
] as const;
export type JournalCounter = (typeof JOURNAL_COUNTERS)[number];

const HOUR_MS = 3_600_000;

/**
 * A line without an account belongs to the sender named by the first lines of its message. Notices of the server (null
 * sender) count for nobody.
 */
const COUNT_LINES = `INSERT INTO journal_count (tenant, hour, account, domain, kind, n)
  SELECT tenant, hour, account, lower(substr(whose, instr(whose, '@') + 1)), kind, count(*) FROM (
    SELECT j.tenant, j.at / 3600000 AS hour, coalesce(j.account_id, 0) AS account,
      CASE j.event WHEN 'received' THEN iif(j.detail ->> 'folder' = 'junk', 'junk', 'received')
        WHEN 'submitted' THEN 'sent' WHEN 'failed' THEN 'bounced' ELSE j.event END AS kind,
      coalesce((SELECT address FROM account a WHERE a.id = j.account_id),
        (SELECT coalesce(f.detail ->> 'source', f.detail ->> 'as', f.detail ->> 'from')
         FROM (SELECT id, tenant, account_id, detail FROM journal WHERE j.account_id IS NULL AND trace = j.trace ORDER BY id LIMIT 20) f
         WHERE f.tenant = j.tenant AND f.account_id IS NULL AND f.detail ->> 'from' IS NOT NULL
         ORDER BY f.id LIMIT 1), '') AS whose
    FROM journal j
    WHERE j.id > ?1 AND j.id <= ?2 AND j.tenant IS NOT NULL
      AND j.event IN ('received', 'refused', 'submitted', 'delivered', 'deferred', 'failed', 'complained', 'suppressed')
      AND NOT (j.event = 'submitted' AND j.detail ->> 'from' = '')
  )
  WHERE true
  GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (tenant, hour, account, domain, kind) DO UPDATE SET n = journal_count.n + excluded.n`;

/** Counts the lines after `after` up to `last`, in the commit that records the position. */
export async function countJournalLines(tx: Write, after: number, last: number): Promise<void> {
  await tx.run(COUNT_LINES, after, last);
}

const PURGE_COUNTS = `DELETE FROM journal_count WHERE (tenant, hour, account, domain, kind) IN
  (SELECT tenant, hour, account, domain, kind FROM journal_count WHERE hour < ?1 ORDER BY hour LIMIT ?2)`;

/** Purges at most `limit` counts of hours that ended before `before`, ms UTC. Returns their number. */
export async function purgeJournalCounts(tx: Write, before: number, limit: number): Promise<number> {
  return (await tx.run(PURGE_COUNTS, Math.floor(before / HOUR_MS), limit)).changes;
}

export interface JournalCountQuery {
  tenant: number;
  /** Counts of these accounts; null: all, including those without an account. */
  accounts: readonly number[] | null;
  /** Domains in A-labels; null: all. */
  domain: string | null;
  /** Hours since 1970, UTC; the end is exclusive. Multiples of `step`. */
  from: number;
  to: number;
  /** Hours of one interval: 1 or {@link DAY_HOURS}. */
  step: number;
}

export interface JournalCount extends Record<string, number | string> {
  /** The first hour of the interval. */
  hour: number;
  kind: JournalCounter;
  n: number;
}

export const DAY_HOURS = 24;

const COUNTS = `SELECT hour - hour % ?4 AS hour, kind, sum(n) AS n FROM journal_count
  WHERE tenant = ?1 AND hour >= ?2 AND hour < ?3 AND (?5 IS NULL OR domain = ?5)
    AND (?6 IS NULL OR account IN (SELECT value FROM json_each(?6)))
  GROUP BY 1, 2 ORDER BY 1`;

/**
 * Counts of a tenant's mail, oldest first; zeros are omitted. One statement a day, so that other queries run in
 * between.
 */
export const journalCounts = query(
  'journal-counts',
  async (rx, { tenant, accounts, domain, from, to, step }: JournalCountQuery): Promise<JournalCount[]> => {
    const only = accounts === null ? null : JSON.stringify(accounts);
    const counts: JournalCount[] = [];
    for (let at = from; at < to; at += DAY_HOURS) {
      counts.push(
        ...(await rx.all<JournalCount>(COUNTS, tenant, at, Math.min(to, at + DAY_HOURS), step, domain, only)),
      );
    }
    return counts;
  },
);
