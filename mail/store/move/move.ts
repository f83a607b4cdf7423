import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { markDatabase, unmarkDatabase } from '../engine/database-marker.ts';
import { openForWriting } from '../engine/connection.ts';
import { flushDirectorySync } from '../engine/make-directory.ts';
import { lockDataDir } from '../engine/lock.ts';
import { type AppliedRow, migrate, type Migration, planMigrations } from '../engine/migrate.ts';
import { checkDatabase, migratePostgres } from '../engine/postgres/migrate.ts';
import { connectNode } from '../engine/postgres/node-lock.ts';
import { storedText } from '../engine/stored-text.ts';
import { DATABASE_NAME_SETTING } from '../account/restored-database.ts';
import { PostgresTables } from './postgres-tables.ts';
import { RowDigest, type StoredValue } from './row-digest.ts';
import { SqliteTables } from './sqlite-tables.ts';
import { MoveProblem, type StoredRow, type StoredTable, type TableStore } from './table-store.ts';

/** Half a second apart: PostgreSQL notices a moment later that a server has just ended. */
const LOCK_ATTEMPTS = 6;

export interface MoveOptions {
  dataDir: string;
  /** URL of the database on PostgreSQL. */
  url: string;
  migrations: readonly Migration[];
}

/** A move whose rows were read again and are equal. */
export interface MoveResult {
  tables: number;
  rows: number;
  messages: number;
  /** Path of the database that was left behind; null: it is on PostgreSQL. */
  left: string | null;
}

/**
 * Copies the embedded database of a stopped server to PostgreSQL, reads it again, compares each row, and commits. The
 * embedded database is renamed.
 */
export async function moveToPostgres({ dataDir, url, migrations }: MoveOptions): Promise<MoveResult> {
  const path = join(dataDir, 'mailstead.db');
  if (!existsSync(path)) throw new MoveProblem(`There is no embedded database in ${dataDir}`);
  using _lock = lockDataDir(dataDir);
  const node = await connectNode(url, LOCK_ATTEMPTS);
  try {
    await checkDatabase(node.sql);
    await migratePostgres(node.sql, migrations);
    const target = new PostgresTables(node);
    if (await target.isUsed()) throw new MoveProblem('The database on PostgreSQL has mailboxes. Use an empty one');
    const copied = new Map<string, RowDigest>();
    {
      using source = new SqliteTables(path);
      requireCurrent(source.applied, migrations);
      await target.filled(await source.numbers(), () => copyTables(source, target, source.tables, copied, storedValue));
    }
    const left = `${path}.moved`;
    await rename(path, left);
    flushDirectorySync(dataDir);
    markDatabase(dataDir, url);
    return resultOf(copied, left);
  } finally {
    await node.close();
  }
}

/** Copies the database of a stopped server from PostgreSQL into its data directory, as {@link moveToPostgres}. */
export async function moveToSqlite({ dataDir, url, migrations }: MoveOptions): Promise<MoveResult> {
  const path = join(dataDir, 'mailstead.db');
  if (existsSync(path)) throw new MoveProblem(`${dataDir} has an embedded database`);
  using _lock = lockDataDir(dataDir);
  const node = await connectNode(url, LOCK_ATTEMPTS);
  const draft = `${path}.draft`;
  try {
    const source = new PostgresTables(node);
    requireCurrent(await source.applied(), migrations);
    await removeDatabase(draft);
    const connection = openForWriting(draft);
    migrate(connection, migrations);
    connection.close();
    const copied = new Map<string, RowDigest>();
    {
      using target = new SqliteTables(draft);
      await node.sql.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await target.filled(await source.numbers(), () => copyTables(source, target, target.tables, copied));
    }
    await rename(draft, path);
    flushDirectorySync(dataDir);
    unmarkDatabase(dataDir);
    return resultOf(copied, null);
  } finally {
    await removeDatabase(draft);
    await node.close();
  }
}

async function removeDatabase(path: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true });
}

function requireCurrent(applied: readonly AppliedRow[], migrations: readonly Migration[]): void {
  const { pending, newer, changed } = planMigrations(applied, migrations);
  if (pending.length + newer.length + changed.length === 0) return;
  throw new MoveProblem('The database is of another version. Start this version of Mailstead on it once, and stop it');
}

/** Copies tables one after the other, and reads each again. Throws if a row differs. `valueOf`: a value as the target stores it. */
async function copyTables(
  source: TableStore,
  target: TableStore,
  tables: readonly StoredTable[],
  copied: Map<string, RowDigest>,
  valueOf: (value: StoredValue) => StoredValue = (value) => value,
): Promise<void> {
  for (const table of tables) {
    const sent = new RowDigest();
    await target.replace(table, counted(movable(table, source.rows(table)), sent, valueOf));
    const stored = new RowDigest();
    for await (const row of target.rows(table)) stored.add(row);
    if (!stored.equals(sent)) throw new MoveProblem(`Rows of the table ${table.name} changed on the way`);
    copied.set(table.name, stored);
  }
}

/**
 * Tables whose keys have texts that strangers choose, which earlier versions stored at any length: results that are counted
 * for reports, and folders of other servers, which are not pulled any more.
 */
const KEYS_OF_STRANGERS = new Set(['tls_result', 'dmarc_result', 'import_folder']);
/** Octets of the texts of such a row: a key of PostgreSQL has 2,700 at most. */
const MAX_KEY_OCTETS = 2_600;

/** All rows but the name of the database, as the one that they move to is not a restored one, and those that have no place there. */
async function* movable({ name, columns }: StoredTable, rows: AsyncIterable<StoredRow>): AsyncGenerator<StoredRow> {
  const at = name === 'setting' ? columns.findIndex((column) => column.name === 'name') : -1;
  const isBounded = KEYS_OF_STRANGERS.has(name);
  for await (const row of rows) {
    if (row[at] !== DATABASE_NAME_SETTING && !(isBounded && textOctets(row) > MAX_KEY_OCTETS)) yield row;
  }
}

function textOctets(row: StoredRow): number {
  return row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0), 0);
}

async function* counted(
  rows: AsyncIterable<StoredRow>,
  digest: RowDigest,
  valueOf: (value: StoredValue) => StoredValue,
): AsyncGenerator<StoredRow> {
  for await (const row of rows) {
    const stored = row.map(valueOf);
    digest.add(stored);
    yield stored;
  }
}

function storedValue(value: StoredValue): StoredValue {
  return typeof value === 'string' ? storedText(value) : value;
}

function resultOf(copied: ReadonlyMap<string, RowDigest>, left: string | null): MoveResult {
  const rows = [...copied.values()].reduce((sum, digest) => sum + digest.rows, 0);
  return { tables: copied.size, rows, messages: copied.get('email')?.rows ?? 0, left };
}
