import type { DatabaseConnection } from '../engine/connection.ts';

/** Table with a row while the file may have words of removed messages. */
export const REMOVED_WORDS = `CREATE TABLE removed_words (
  at INTEGER NOT NULL                    -- ms UTC of the first removal that was not overwritten
) STRICT;`;

/** Creates the table in a file of an earlier version, which may have words of removed messages. */
export function createRemovedWords(connection: DatabaseConnection): void {
  const sql = `SELECT 1 AS there FROM main.sqlite_schema WHERE name = 'removed_words'`;
  if (connection.get<{ there: number }>(sql, []) !== undefined) return;
  connection.script(`BEGIN IMMEDIATE; ${REMOVED_WORDS} INSERT INTO main.removed_words (at) VALUES (0); COMMIT`);
}

/** Records that words of removed messages are still in the file: the server may stop before they are overwritten. */
export function noteRemovedWords(connection: DatabaseConnection): void {
  if (removedWordsSince(connection) === undefined)
    connection.run('INSERT INTO removed_words (at) VALUES (?)', [Date.now()]);
}

/** Time of the first removal whose words may still be in the file, ms UTC; undefined: there is none. */
export function removedWordsSince(connection: DatabaseConnection): number | undefined {
  return connection.get<{ at: number }>('SELECT at FROM removed_words LIMIT 1', [])?.at;
}

export function clearRemovedWords(connection: DatabaseConnection): void {
  connection.run('DELETE FROM removed_words', []);
}
