import { command } from '../engine/types.ts';
import { renewalOf } from './renewed-numbers.ts';

/** Name of the setting with the name of the database that the rows are in. */
export const DATABASE_NAME_SETTING = 'database-name';

const REMEMBER = `INSERT INTO setting (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/**
 * Begins a new numbering if the rows came from another database: they were restored from a dump, and numbers may have been
 * given after it was made. `name`: name of the database among all that there are, in octets.
 */
export const recognizeDatabase = command(
  'recognize-database',
  async (tx, { name }: { name: Uint8Array }, { now }): Promise<{ isRestored: boolean }> => {
    const known = await tx.get<{ value: Uint8Array }>(
      'SELECT value FROM setting WHERE name = ?',
      DATABASE_NAME_SETTING,
    );
    const isRestored = known !== undefined && !Buffer.from(known.value).equals(name);
    if (isRestored) for (const [sql, params] of renewalOf(now)) await tx.run(sql, ...params);
    await tx.run(REMEMBER, DATABASE_NAME_SETTING, name);
    return { isRestored };
  },
);
