import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DatabaseConnection } from './connection.ts';
import type { ReportUpgrade } from './upgrade-step.ts';

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

/** Migrations of a database, by ledger and number. */
export interface MigrationPlan {
  applied: string[];
  /** Not applied yet. */
  pending: string[];
  /** Applied by a newer version of Mailstead. */
  newer: string[];
  /** Applied with another text. */
  changed: string[];
}

export type AppliedRow = { ledger: string; number: number; checksum: string };

/** Compares the applied migrations with those of this version. */
export function planMigrations(applied: readonly AppliedRow[], migrations: readonly Migration[]): MigrationPlan {
  const known = new Map(applied.map((row) => [`${row.ledger} ${row.number}`, row.checksum]));
  const plan: MigrationPlan = { applied: [...known.keys()], pending: [], newer: [], changed: [] };
  for (const migration of migrations) {
    const name = migrationName(migration);
    const checksum = known.get(name);
    known.delete(name);
    if (checksum === undefined) plan.pending.push(name);
    else if (checksum !== checksumOf(migration)) plan.changed.push(name);
  }
  plan.newer.push(...known.keys());
  return plan;
}

/** Migrations that were applied; none to a new database. */
export function appliedMigrations(read: (sql: string) => unknown[]): AppliedRow[] {
  const tables = read(`SELECT 1 AS there FROM sqlite_schema WHERE type = 'table' AND name = 'migration'`);
  return tables.length === 0 ? [] : (read('SELECT ledger, number, checksum FROM migration') as AppliedRow[]);
}

/** Error that stops a start; undefined if the migrations fit. */
export function planProblem({ changed: [changed], newer: [newer] }: MigrationPlan): string | undefined {
  if (changed !== undefined) return `Migration ${changed} differs from the one that was applied to this database`;
  if (newer === undefined) return undefined;
  return `This database was written by a newer Mailstead (migration ${newer}): upgrade Mailstead first, or restore the copy that the upgrade made in before-upgrade/ (docs/backups.md)`;
}

/**
 * Migrates the database. Each migration and its record are one transaction, so a kill leaves the old or the new schema.
 * Migrations change the schema, and may fill what a small table needs; sliced jobs fill the columns of large tables.
 */
export function migrate(
  connection: DatabaseConnection,
  migrations: readonly Migration[],
  report: ReportUpgrade = () => undefined,
): void {
  connection.script(`CREATE TABLE IF NOT EXISTS migration (
    ledger TEXT NOT NULL, number INTEGER NOT NULL, checksum TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (ledger, number)) STRICT, WITHOUT ROWID`);
  const plan = planMigrations(
    appliedMigrations((sql) => connection.all(sql, [])),
    migrations,
  );
  // A changed migration stops before any is applied; a newer one too, as its tables are not known here.
  const problem = planProblem(plan);
  if (problem !== undefined) throw new Error(problem);
  for (const migration of pendingSteps(plan, migrations, report)) apply(connection, migration, checksumOf(migration));
}

/** Pending migrations in order. Each is reported before it is applied, unless the database is new. */
export function* pendingSteps(
  { applied, pending }: MigrationPlan,
  migrations: readonly Migration[],
  report: ReportUpgrade,
): Generator<Migration> {
  const wanted = new Set(pending);
  let number = 0;
  for (const migration of migrations) {
    const name = migrationName(migration);
    if (!wanted.has(name)) continue;
    number++;
    if (applied.length > 0) report({ kind: 'migrate', migration: name, number, total: wanted.size });
    yield migration;
  }
}

export function migrationName({ ledger, number }: Migration): string {
  return `${ledger} ${number}`;
}

export function checksumOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
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
