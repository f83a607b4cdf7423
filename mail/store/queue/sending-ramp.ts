import { command, query } from '../engine/types.ts';

/** Stored state of the ramp at one receiving organization. */
export interface StoredRamp extends Record<string, string | number> {
  organization: string;
  level: number;
  levelAt: number;
  hour: number;
  sent: number;
  objectedAt: number;
}

/** Hours after which an unused row is deleted: receivers forget an address within a month. */
const FORGOTTEN_HOURS = 30 * 24;

/** Reads the ramp, what was used last at the end; undefined: this server sent mail before it had one. */
export const readRamp = query('read-sending-ramp', async (rx): Promise<StoredRamp[] | undefined> => {
  if ((await rx.get('SELECT 1 AS there FROM sending_ramp_off')) !== undefined) return undefined;
  const latest = await rx.all<StoredRamp>(
    `SELECT organization, level, level_at AS "levelAt", hour, sent, objected_at AS "objectedAt" FROM sending_ramp
     ORDER BY hour DESC, level DESC LIMIT 10000`,
  );
  return latest.toReversed();
});

/** Stores the states that changed. */
export const saveRamp = command(
  'save-sending-ramp',
  async (tx, { states }: { states: readonly StoredRamp[] }, stamp): Promise<void> => {
    for (const one of states) {
      await tx.run(
        `INSERT INTO sending_ramp (organization, level, level_at, hour, sent, objected_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (organization) DO UPDATE SET level = excluded.level, level_at = excluded.level_at,
           hour = excluded.hour, sent = excluded.sent, objected_at = excluded.objected_at`,
        one.organization,
        one.level,
        one.levelAt,
        one.hour,
        one.sent,
        one.objectedAt,
      );
    }
    await tx.run('DELETE FROM sending_ramp WHERE hour < ?', Math.floor(stamp.now / 3_600_000) - FORGOTTEN_HOURS);
  },
);
