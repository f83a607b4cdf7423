import { query, type Write } from './engine/types.ts';

/**
 * What is counted: copies that came (`received` without those that went to Junk), messages that were handed in (`sent`),
 * and what became of them for each recipient elsewhere, `deferred` being tries.
 */
export const COUNTED = [
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
export type Counted = (typeof COUNTED)[number];

const HOUR_MS = 3_600_000;

/**
 * Whose a line without a mailbox is says the first line of its story that names a sender, which is among the first. What
 * the box itself wrote (under the null sender) nobody sent. The migration that made the table counts the same way.
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
  ON CONFLICT DO UPDATE SET n = n + excluded.n`;

/** Counts the lines behind `after` up to `last`. Once: in the commit that notes that they were looked at. */
export async function countLines(tx: Write, after: number, last: number): Promise<void> {
  await tx.run(COUNT_LINES, after, last);
}

const FORGET = `DELETE FROM journal_count WHERE (tenant, hour, account, domain, kind) IN
  (SELECT tenant, hour, account, domain, kind FROM journal_count WHERE hour < ?1 ORDER BY hour LIMIT ?2)`;

/** Forgets at most `limit` counts of hours that ended before `before`, ms UTC. Answers how many. */
export async function forgetCounts(tx: Write, before: number, limit: number): Promise<number> {
  return (await tx.run(FORGET, Math.floor(before / HOUR_MS), limit)).changes;
}

export interface CountsAsked {
  tenant: number;
  /** Of these mailboxes only; null: all, and what is of none. */
  accounts: readonly number[] | null;
  /** A-labels; null: all. */
  domain: string | null;
  /** Hours since 1970, UTC: the first, and the one behind the last. Both are multiples of `step`. */
  from: number;
  to: number;
  /** Hours that are counted together: 1 or {@link DAY_HOURS}. */
  step: number;
}

export interface Count extends Record<string, number | string> {
  /** The first hour. */
  hour: number;
  kind: Counted;
  n: number;
}

export const DAY_HOURS = 24;

const COUNTS = `SELECT hour - hour % ?4 AS hour, kind, sum(n) AS n FROM journal_count
  WHERE tenant = ?1 AND hour >= ?2 AND hour < ?3 AND (?5 IS NULL OR domain = ?5)
    AND (?6 IS NULL OR account IN (SELECT value FROM json_each(?6)))
  GROUP BY 1, 2 ORDER BY 1`;

/** What happened to a tenant's mail, oldest first; what is 0 is left out. A statement a day, so that others have turns. */
export const journalCounts = query(
  'journal-counts',
  async (rx, { tenant, accounts, domain, from, to, step }: CountsAsked): Promise<Count[]> => {
    const only = accounts === null ? null : JSON.stringify(accounts);
    const counts: Count[] = [];
    for (let at = from; at < to; at += DAY_HOURS) {
      counts.push(...(await rx.all<Count>(COUNTS, tenant, at, Math.min(to, at + DAY_HOURS), step, domain, only)));
    }
    return counts;
  },
);
