import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../mail/store/engine/postgres/connection.ts';
import { toPostgres } from '../../mail/store/engine/postgres/dialect.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import {
  connectPostgres,
  createSchema,
  isPostgresInstalled,
  type PostgresServer,
  startPostgres,
} from '../support/postgres.ts';
import { sourceStatements } from '../support/source-statements.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Files of SQLite's own engine and of the full-text index, which is a SQLite file on every engine. */
const OF_SQLITE =
  /^mail\/(?:store\/(?:(?:engine|search)\/|move\/sqlite-tables)|backup\/create-backup|jmap\/email-query\/text-matcher|imap\/search\/relevant)/;
/** Types of parameters by number: int4 is too short for times and counters, and the product has no booleans. */
const PARAMETER_TYPES: Readonly<Record<number, string>> = { 16: 'boolean', 21: 'int2', 23: 'int4', 1700: 'numeric' };
const SQLITE_TYPES: Readonly<Record<string, string>> = {
  bigint: 'INTEGER',
  bytea: 'BLOB',
  text: 'TEXT',
  'double precision': 'REAL',
};

/** A scan of a table that has a row or more for each message. */
const SCAN =
  /(?:Seq Scan|Index(?: Only)? Scan(?: Backward)? using \w+) on (?:entry|email|blob|journal|journal_key|message_index|msgid|sent_email)\b|Bitmap Index Scan on email_thread\b/;
/** Files with statements that read such a table whole, or its beginning up to a limit. */
const SCANS = [
  'mail/jobs/storage-check.ts',
  'mail/store/blob/content.ts',
  'mail/store/check/check-store.ts',
  'mail/store/retention/purge.ts',
];

/** The plan of a statement for any parameters. Rejects for a text that is no statement, or none that has a plan. */
async function planOf(sql: postgres.Sql, text: string): Promise<string[]> {
  const { types } = (await sql.unsafe(text).describe()) as unknown as { types: number[] };
  await sql.unsafe(`PREPARE planned AS ${text}`);
  const parameters = types.length === 0 ? '' : `(${types.map(() => 'NULL').join(', ')})`;
  const rows = await sql.unsafe(`EXPLAIN EXECUTE planned${parameters}`);
  await sql.unsafe('DEALLOCATE planned');
  return rows.map((row) => String(row['QUERY PLAN']));
}

/** Files with statements that read a table of messages whole, among those that are meant, and the number of these. */
async function scansOf(server: PostgresServer, isMeant: (text: string) => boolean): Promise<[string[], number]> {
  const pool = openPool(server.url, 1);
  await pool.unsafe('SET plan_cache_mode = force_generic_plan');
  const scans = new Set<string>();
  let planned = 0;
  for (const { file, text } of sourceStatements(ROOT)) {
    if (OF_SQLITE.test(file) || !isMeant(text)) continue;
    const plan = await planOf(pool, toPostgres(text)).catch(() => undefined);
    if (plan === undefined) continue;
    planned++;
    if (plan.some((line, i) => SCAN.test(line) && !plan[i + 1]?.includes('Index Cond'))) scans.add(file);
  }
  await pool.end();
  return [[...scans].toSorted(), planned];
}

const FEW = 10;
/** Values of required columns by type. */
const VALUES: Readonly<Record<string, string>> = { bigint: 'n', text: 'n::text', bytea: "''::bytea" };

/** Stores a few rows without meaning in each table of messages, and counts them as autovacuum does. */
async function storeFew(sql: postgres.Sql): Promise<void> {
  await sql.unsafe('SET session_replication_role = replica');
  for (const table of ['mailbox', 'entry', 'email', 'blob', 'expunged', 'msgid', 'message_index']) {
    const columns = await sql.unsafe<{ name: string; type: string }[]>(
      `SELECT column_name AS name, data_type AS type FROM information_schema.columns
       WHERE table_schema = 'mailstead' AND table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL`,
      [table],
    );
    const values = columns.map(({ type }) => VALUES[type]);
    await sql.unsafe(
      `INSERT INTO ${table} (${columns.map(({ name }) => name).join()}) SELECT ${values.join()} FROM generate_series(1, ${FEW}) n`,
    );
  }
  await sql.unsafe('VACUUM ANALYZE');
}

interface TableColumn {
  place: string;
  type: string;
  required: boolean;
  fallback: string | null;
}

describe.skipIf(!isPostgresInstalled)('PostgreSQL (postgresql-15 of Debian) beside SQLite', () => {
  const sqlite = new DatabaseSync(':memory:');
  let server: PostgresServer;
  let sql: postgres.Sql;

  beforeAll(async () => {
    server = startPostgres();
    sql = connectPostgres(server);
    const migrations = [...mailMigrations(), ...applianceMigrations()];
    for (const migration of migrations) sqlite.exec(migration.sql);
    await createSchema(sql, migrations);
  }, 300_000);

  afterAll(async () => {
    await sql.end();
    server[Symbol.dispose]();
    sqlite.close();
  });

  test('both have the same columns with the same types, defaults and NOT NULL', async () => {
    const here = sqlite
      .prepare(
        `SELECT t.name || '.' || c.name AS place, c.type, c."notnull" OR c.pk > 0 AS required, c.dflt_value AS fallback
         FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1`,
      )
      .all();
    const there = await sql.unsafe<TableColumn[]>(
      `SELECT c.table_name || '.' || c.column_name AS place, c.data_type AS type, c.is_nullable = 'NO' AS required,
         c.column_default AS fallback
       FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
       WHERE c.table_schema = 'mailstead' AND t.table_type = 'BASE TABLE' AND c.table_name NOT IN ('migration', 'node_commit', 'commit_log') ORDER BY 1`,
    );
    const columns = there.map((row) => ({
      ...row,
      type: SQLITE_TYPES[row.type],
      required: Number(row.required),
      fallback: row.fallback?.replace(/::\w+$/, '') ?? null,
    }));
    expect(here.length).toBeGreaterThan(600);
    expect(columns).toEqual(here.map((row) => ({ ...row })));
  });

  test('both have the same keys and indexes on the same columns', async () => {
    const here = sqlite
      .prepare(
        `SELECT t.name AS "table", i."unique" AS distinct_rows, i.partial,
           (SELECT group_concat(ifnull(name, '()'), ',' ORDER BY seqno) FROM pragma_index_info(i.name)) AS columns
         FROM pragma_table_list t, pragma_index_list(t.name) i WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'
         UNION ALL
         SELECT t.name, 1, 0, c.name FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.wr = 0 AND c.pk = 1 AND c.type = 'INTEGER'
           AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) d WHERE d.pk > 1)`,
      )
      .all();
    const there = await sql.unsafe(
      `SELECT t.relname AS "table", i.indisunique::int AS distinct_rows, (i.indpred IS NOT NULL)::int AS partial,
         (SELECT string_agg(coalesce(a.attname, '()'), ',' ORDER BY k.nth) FROM unnest(i.indkey) WITH ORDINALITY k(number, nth)
            LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number AND k.number > 0) AS columns
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid WHERE t.relnamespace = 'mailstead'::regnamespace
         AND t.relname NOT IN ('migration', 'node_commit', 'commit_log')`,
    );
    const lines = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();
    expect(here.length).toBeGreaterThan(200);
    expect(lines([...there])).toEqual(lines(here));
  });

  test('both have the same views and triggers', async () => {
    const here = sqlite.prepare(`SELECT name FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY name`).all();
    const there = await sql.unsafe(
      `SELECT tgname::text AS name FROM pg_trigger WHERE NOT tgisinternal
       UNION SELECT table_name FROM information_schema.views WHERE table_schema = 'mailstead' ORDER BY name`,
    );
    expect(there.map((row) => row['name'])).toEqual(here.map((row) => row['name']));
  });

  test('the plans of all statements look messages up by indexes, though there are no statistics of the tables', async () => {
    const [scans, planned] = await scansOf(server, () => true);
    expect(planned).toBeGreaterThan(1500);
    expect(scans).toEqual(SCANS);
  });

  test('every statement of the product is one for both, and no parameter is shorter than a time', async () => {
    const statements = sourceStatements(ROOT).filter(({ file }) => !OF_SQLITE.test(file));
    const wrong: string[] = [];
    let prepared = 0;
    for (const { file, text } of statements) {
      try {
        sqlite.prepare(text);
      } catch {
        continue; // A sentence that begins as a statement does.
      }
      prepared++;
      try {
        const { types } = (await sql.unsafe(toPostgres(text)).describe()) as unknown as { types: number[] };
        const short = types.map((type) => PARAMETER_TYPES[type]).filter((type) => type !== undefined);
        if (short.length > 0) wrong.push(`${file}: a parameter is ${short.join(', ')}: ${text}`);
      } catch (error) {
        wrong.push(`${file}: ${(error as Error).message}: ${text}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(prepared).toBeGreaterThan(1500);
  }, 300_000);

  // Autovacuum counts the rows of a new server within a minute; hundreds may come before it counts again.
  test('joins keep their order and conditions are looked up where the tables had a few rows when they were counted', async () => {
    await storeFew(sql);
    const [scans, planned] = await scansOf(server, (text) => /\bCROSS JOIN\b|\bEXISTS \(/.test(text));
    expect(planned).toBeGreaterThan(150);
    expect(scans).toEqual(['mail/store/check/check-store.ts']);
  });
});
