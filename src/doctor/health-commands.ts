import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, lookup, query } from '../../mail/store/engine/types.ts';
import type { HealthCheck } from './health-check.ts';

/** Time for which a check that failed and recovered causes no second letter. */
export const QUIET_MS = 24 * 3_600_000;

/** Stores a result and returns its time. A check that is unknown now keeps its state: it says nothing about the fault. */
export const recordHealth = command(
  'record-health',
  async (tx, { checks }: { checks: readonly HealthCheck[] }, stamp): Promise<{ checkedAt: number }> => {
    await tx.run(
      `INSERT INTO health_report (id, checked_at, checks) VALUES (1, ?, ?)
       ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, checks = excluded.checks`,
      stamp.now,
      JSON.stringify(checks),
    );
    const named = (wanted: (check: HealthCheck) => boolean): string =>
      JSON.stringify(checks.filter(wanted).map(({ name }) => name));
    await tx.run(
      `UPDATE health_alarm SET failed_since = NULL WHERE name NOT IN (SELECT value FROM json_each(?, '$'))`,
      named(({ status }) => status === 'failed' || status === 'unknown'),
    );
    await tx.run(
      `INSERT INTO health_alarm (name, failed_since) SELECT value, ?1 FROM json_each(?2, '$') WHERE true
       ON CONFLICT (name) DO UPDATE SET failed_since = coalesce(health_alarm.failed_since, ?1)`,
      stamp.now,
      named(({ status }) => status === 'failed'),
    );
    await tx.run(
      'DELETE FROM health_alarm WHERE failed_since IS NULL AND coalesce(notified_at, 0) <= ?',
      stamp.now - QUIET_MS,
    );
    return { checkedAt: stamp.now };
  },
);

/** The stored result. */
export interface StoredHealth {
  /** ms UTC. */
  checkedAt: number;
  checks: HealthCheck[];
  /** Time from which each failed check fails, by its name. */
  failedSince: ReadonlyMap<string, number>;
}

/** Reads the last result; undefined: nothing was checked yet. */
export const lastHealth = query('last-health', async (rx): Promise<StoredHealth | undefined> => {
  const row = await rx.get<{ at: number; checks: string }>(
    'SELECT checked_at AS at, checks FROM health_report WHERE id = 1',
  );
  if (row === undefined) return undefined;
  const failed = await rx.all<{ name: string; since: number }>(
    'SELECT name, failed_since AS since FROM health_alarm WHERE failed_since IS NOT NULL',
  );
  return {
    checkedAt: row.at,
    checks: JSON.parse(row.checks) as HealthCheck[],
    failedSince: new Map(failed.map(({ name, since }) => [name, since])),
  };
});

/** Names of failed checks without a letter since they fail. */
export const unnotifiedFailures = lookup(
  'unnotified-failures',
  async (rx, { now }: { now: number }): Promise<string[]> => {
    const rows = await rx.all<{ name: string }>(
      `SELECT name FROM health_alarm WHERE failed_since IS NOT NULL
         AND (notified_at IS NULL OR (notified_at < failed_since AND notified_at <= ?)) ORDER BY name`,
      now - QUIET_MS,
    );
    return rows.map(({ name }) => name);
  },
);

/** Marks checks as notified and sends the letter, in one commit. Returns the number that were not marked before. */
export const recordHealthNotice = command(
  'record-health-notice',
  async (
    tx,
    { names, notices }: { names: readonly string[]; notices: readonly SystemNotice<'check-failing'>[] },
    stamp,
  ): Promise<{ marked: number }> => {
    const { changes } = await tx.run(
      `UPDATE health_alarm SET notified_at = ?1 WHERE name IN (SELECT value FROM json_each(?2, '$'))
         AND failed_since IS NOT NULL AND (notified_at IS NULL OR notified_at < failed_since)`,
      stamp.now,
      JSON.stringify(names),
    );
    if (changes > 0) await sendNotices(tx, notices, stamp);
    return { marked: changes };
  },
);
