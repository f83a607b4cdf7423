import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type AppliedRow,
  checksumOf,
  type Migration,
  migrationName,
  pendingSteps,
  planMigrations,
  planProblem,
} from '../migrate.ts';
import type { ReportUpgrade } from '../upgrade-step.ts';
import { SCHEMA, type StatementSender } from './connection.ts';
import { schemaToPostgres } from './translate-schema.ts';

const OLDEST_VERSION = 150_000;

/** Throws if the database cannot hold mail: too old, not durable, or with another order of texts than SQLite's. */
export async function checkDatabase(sql: StatementSender): Promise<void> {
  const [row] = await sql.unsafe(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding,
       current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS flush,
       current_setting('transaction_read_only') AS standby,
       (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS locale`,
  );
  const { version, encoding, fsync, flush, standby, locale } = row as Record<string, string>;
  if (standby !== 'off')
    throw new Error('The database is read-only: MAILSTEAD_DATABASE must name the primary, not a standby');
  if (Number(version) < OLDEST_VERSION) throw new Error(`PostgreSQL ${version} is too old: 15 or newer is needed`);
  if (encoding !== 'UTF8') throw new Error(`The database has the encoding ${encoding}: create it with ENCODING 'UTF8'`);
  if (locale !== 'C' && locale !== 'POSIX')
    throw new Error(`The database has the locale ${locale}: create it with TEMPLATE template0 LOCALE 'C'`);
  if (fsync !== 'on' || flush === 'off')
    throw new Error('PostgreSQL does not flush its commits (fsync, synchronous_commit): accepted mail could be lost');
}

/** Key of the lock of the node that migrates: two that start at once would create the same tables. */
const MIGRATION = 7_205_759_403_793;

/** Migrates the database. Each migration and its record are one transaction. */
export async function migratePostgres(
  sql: StatementSender,
  migrations: readonly Migration[],
  report: ReportUpgrade = () => undefined,
): Promise<void> {
  await sql.unsafe('SELECT pg_advisory_lock($1::bigint)', [MIGRATION]);
  try {
    await createFunctions(sql);
    await createNodeTables(sql);
    await applyAll(sql, migrations, report);
    await sql.unsafe(COMPRESS_MESSAGES);
  } finally {
    await sql.unsafe('SELECT pg_advisory_unlock($1::bigint)', [MIGRATION]);
  }
}

/**
 * Compresses new messages with lz4 where PostgreSQL was built with it: its default takes a third of the time of an insert. The
 * lock that this needs would hold up all other nodes behind one that reads for minutes: the next start does it then.
 */
const COMPRESS_MESSAGES = `DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals))
    AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('${SCHEMA}.blob') AND attname = 'data' AND attcompression = '')
  THEN
    SET LOCAL lock_timeout = '500ms';
    ALTER TABLE ${SCHEMA}.blob ALTER COLUMN data SET COMPRESSION lz4;
  END IF;
EXCEPTION WHEN lock_not_available THEN NULL;
END $$`;

async function applyAll(sql: StatementSender, migrations: readonly Migration[], report: ReportUpgrade): Promise<void> {
  const applied = await sql.unsafe('SELECT ledger, number, checksum FROM migration');
  const plan = planMigrations(applied as unknown as AppliedRow[], migrations);
  const problem = planProblem(plan);
  if (problem !== undefined) throw new Error(problem);
  for (const migration of pendingSteps(plan, migrations, report)) await apply(sql, migration);
}

/** Creates the schema, its functions and the table of migrations, or brings the functions up to date: one transaction. */
async function createFunctions(sql: StatementSender): Promise<void> {
  const functions = readFileSync(new URL('functions.sql', import.meta.url), 'utf8');
  const version = `functions ${createHash('sha256').update(functions).digest('hex').slice(0, 16)}`;
  const [found] = await sql.unsafe(
    `SELECT obj_description(oid, 'pg_namespace') AS version FROM pg_namespace WHERE nspname = $1`,
    [SCHEMA],
  );
  if (found?.['version'] === version) return;
  await inTransaction(sql, [
    ...(found === undefined ? NEW_SCHEMA : []),
    functions,
    `COMMENT ON SCHEMA mailstead IS '${version}'`,
  ]);
}

const NEW_SCHEMA = [
  'CREATE SCHEMA mailstead',
  ...schemaToPostgres(`CREATE TABLE migration (ledger TEXT NOT NULL, number INTEGER NOT NULL, checksum TEXT NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (ledger, number)) STRICT`),
];

/** Creates the tables of the engine itself, also in a database of an earlier version, which had one node. */
async function createNodeTables(sql: StatementSender): Promise<void> {
  await inTransaction(sql, [
    'DROP TABLE IF EXISTS last_commit',
    // Name of the last batch that each node has committed. The node that has no name is ''.
    'CREATE TABLE IF NOT EXISTS node_commit (node text PRIMARY KEY, batch text NOT NULL)',
    // Changes for the other nodes, in the order of the commits; rows are deleted after minutes.
    `CREATE TABLE IF NOT EXISTS commit_log (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, node text NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp(), changes text NOT NULL)`,
  ]);
}

async function apply(sql: StatementSender, migration: Migration): Promise<void> {
  try {
    await inTransaction(sql, schemaToPostgres(migration.sql), () =>
      sql.unsafe('INSERT INTO migration (ledger, number, checksum, at) VALUES ($1, $2, $3, $4)', [
        migration.ledger,
        migration.number,
        checksumOf(migration),
        Date.now(),
      ]),
    );
  } catch (error) {
    throw new Error(`Migration ${migrationName(migration)} failed and was rolled back`, { cause: error });
  }
}

async function inTransaction(
  sql: StatementSender,
  statements: readonly string[],
  record?: () => PromiseLike<unknown>,
): Promise<void> {
  await sql.unsafe('BEGIN');
  try {
    // One round trip.
    await sql.unsafe(statements.join(';\n'));
    await record?.();
    await sql.unsafe('COMMIT');
  } catch (error) {
    await sql.unsafe('ROLLBACK');
    throw error;
  }
}
