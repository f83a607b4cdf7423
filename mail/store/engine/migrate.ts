import { createHash } from 'node:crypto';
import type { Connection } from './connection.ts';

/** One step of a ledger. A step that was applied once never changes: its checksum is kept. */
export interface Migration {
  /** Ledger and number, e.g. `mail` 1. */
  ledger: 'mail' | 'appliance';
  number: number;
  sql: string;
}

/**
 * Brings the database up to date. Each step is one transaction with the note that it was applied, so a kill leaves it
 * old or new. Steps change the schema only; filling in what old rows lack is the work of sliced jobs.
 */
export function migrate(connection: Connection, migrations: readonly Migration[]): void {
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
    else if (known !== checksum) throw new Error(`Migration ${name} is not the one that this database was made with`);
  }
  const [newer] = applied.keys();
  if (newer !== undefined)
    throw new Error(`This database was written by a newer Mailstead (migration ${newer}): update first`);
}

function apply(connection: Connection, { ledger, number, sql }: Migration, checksum: string): void {
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
    throw new Error(`Migration ${ledger} ${number} failed; the database is as it was before`, { cause: error });
  }
}
