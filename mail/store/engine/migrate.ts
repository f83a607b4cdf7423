import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DatabaseConnection } from './connection.ts';

/** One migration. An applied migration never changes: its checksum is stored. */
export interface Migration {
  /** Ledger and number, e.g. `mail` 1. */
  ledger: 'mail' | 'appliance';
  number: number;
  sql: string;
}

/** Reads the migrations of a ledger from their files, numbered from 1. A migration may consist of several files. */
export function readSteps(
  ledger: Migration['ledger'],
  folder: URL,
  steps: readonly (readonly string[])[],
): Migration[] {
  return steps.map((files, i) => ({
    ledger,
    number: i + 1,
    sql: files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n'),
  }));
}

/**
 * Migrates the database. Each migration and its record are one transaction, so a kill leaves the old or the new schema.
 * Migrations change the schema only; sliced jobs fill in missing data.
 */
export function migrate(connection: DatabaseConnection, migrations: readonly Migration[]): void {
  connection.script(`CREATE TABLE IF NOT EXISTS migration (
    ledger TEXT NOT NULL, number INTEGER NOT NULL, checksum TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (ledger, number)) STRICT, WITHOUT ROWID`);
  const applied = new Map(
    connection
      .all<{ ledger: string; number: number; checksum: string }>('SELECT ledger, number, checksum FROM migration', [])
      .map((row) => [`${row.ledger} ${row.number}`, row.checksum]),
  );
  for (const migration of migrations) {
    const name = `${migration.ledger} ${migration.number}`;
    const checksum = createHash('sha256').update(migration.sql).digest('hex');
    const known = applied.get(name);
    applied.delete(name);
    if (known === undefined) apply(connection, migration, checksum);
    else if (known !== checksum)
      throw new Error(`Migration ${name} differs from the one that was applied to this database`);
  }
  const [newer] = applied.keys();
  if (newer !== undefined)
    throw new Error(`This database was written by a newer Mailstead (migration ${newer}): upgrade Mailstead first`);
}

function apply(connection: DatabaseConnection, { ledger, number, sql }: Migration, checksum: string): void {
  connection.script('BEGIN IMMEDIATE');
  try {
    connection.script(sql);
    connection.run('INSERT INTO migration (ledger, number, checksum, at) VALUES (?, ?, ?, ?)', [
      ledger,
      number,
      checksum,
      Date.now(),
    ]);
    connection.script('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.script('ROLLBACK');
    throw new Error(`Migration ${ledger} ${number} failed and was rolled back`, { cause: error });
  }
}
