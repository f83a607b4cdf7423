import { command } from '../../mail/store/engine/types.ts';
import { HOUR_MS, type HourNumbers, isMaximum } from './queries.ts';

const KEEP_MS = 90 * 24 * HOUR_MS;
const SLICE = 500;

/** Adds numbers to an hour: sums grow, maxima rise. */
export const recordServerHour = command(
  'record-server-hour',
  async (tx, { hour, numbers }: { hour: number; numbers: HourNumbers }): Promise<void> => {
    for (const [kind, n] of Object.entries(numbers)) {
      const sql = isMaximum(kind)
        ? 'INSERT INTO server_hour (hour, kind, n) VALUES (?, ?, ?) ON CONFLICT (hour, kind) DO UPDATE SET n = max(server_hour.n, excluded.n)'
        : 'INSERT INTO server_hour (hour, kind, n) VALUES (?, ?, ?) ON CONFLICT (hour, kind) DO UPDATE SET n = server_hour.n + excluded.n';
      await tx.run(sql, hour, kind, n);
    }
  },
);

/** Purges a slice of the numbers older than 90 days; returns true if there are more. */
export const purgeServerHours = command(
  'purge-server-hours',
  async (tx, _input: undefined, { now }): Promise<boolean> => {
    const { changes } = await tx.run(
      'DELETE FROM server_hour WHERE (hour, kind) IN (SELECT hour, kind FROM server_hour WHERE hour < ? ORDER BY hour LIMIT ?)',
      Math.floor((now - KEEP_MS) / HOUR_MS),
      SLICE,
    );
    return changes === SLICE;
  },
);
