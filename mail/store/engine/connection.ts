import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Row, Value } from './types.ts';

/** Minimum version: below it a checkpoint race can corrupt the database ("WAL-reset bug"). */
const MIN_SQLITE_VERSION = '3.51.3';

/** Primary result codes of SQLite that the engine distinguishes. */
export const SQLITE = {
  BUSY: 5,
  NOMEM: 7,
  READONLY: 8,
  INTERRUPT: 9,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CONSTRAINT: 19,
} as const;

/**
 * Page size of a new database. A message changes some octets in each of twenty B-trees, and every changed page is
 * written as a whole. A database that exists keeps its size.
 */
const PAGE_OCTETS = 1024;
/** Size of the log at which a checkpoint copies it into the database. */
const LOG_OCTETS = 16 * 1024 * 1024;

/** One SQLite connection that caches prepared statements. Synchronous. */
export class DatabaseConnection {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #queries = new Map<string, RowStatement>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  get<T extends Row>(sql: string, params: readonly Value[]): T | undefined {
    return this.#query(sql).get(params) as T | undefined;
  }

  // `.all` only: an abandoned iterator would pin this connection's snapshot.
  all<T extends Row>(sql: string, params: readonly Value[]): T[] {
    return this.#query(sql).all(params) as T[];
  }

  run(sql: string, params: readonly Value[]): { changes: number; id: number } {
    const { changes, lastInsertRowid } = this.#prepared(sql).run(...params);
    return { changes: Number(changes), id: Number(lastInsertRowid) };
  }

  /** Runs a script of several statements. */
  script(sql: string): void {
    this.#db.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    this.#queries.clear();
    this.#db.close();
  }

  #query(sql: string): RowStatement {
    let query = this.#queries.get(sql);
    if (query === undefined) this.#queries.set(sql, (query = new RowStatement(this.#db.prepare(sql))));
    return query;
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * A statement that returns rows. SQLite's driver makes each row a dictionary, which costs twice as much as an array whose
 * values become properties here, in one order, so that all rows of a statement have one shape.
 */
class RowStatement {
  readonly #statement: StatementSync;
  #columns: string[] = [];

  constructor(statement: StatementSync) {
    statement.setReturnArrays(true);
    this.#statement = statement;
  }

  get(params: readonly Value[]): Row | undefined {
    const values = this.#statement.get(...params) as unknown as Value[] | undefined;
    if (values === undefined) return undefined;
    this.#nameColumns(values);
    return this.#toRow(values);
  }

  all(params: readonly Value[]): Row[] {
    const rows = this.#statement.all(...params) as unknown as Value[][];
    const [first] = rows;
    // Many statements find nothing most of the time, and reading the names of columns costs more than such a statement.
    if (first === undefined) return [];
    this.#nameColumns(first);
    return rows.map((values) => this.#toRow(values));
  }

  /** A statement is compiled again when the schema changes: SELECT * may then have other columns. */
  #nameColumns(values: readonly Value[]): void {
    if (values.length !== this.#columns.length) this.#columns = this.#statement.columns().map(({ name }) => name);
  }

  #toRow(values: Value[]): Row {
    const row: Row = {};
    const columns = this.#columns;
    for (let at = 0; at < columns.length; at++) row[columns[at] as string] = values[at] as Value;
    return row;
  }
}

/** Opens the only writing connection. Throws if the database cannot be durable. */
export function openForWriting(path: string): DatabaseConnection {
  const connection = new DatabaseConnection(
    new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: false }),
  );
  const pragma = (name: string): Value => Object.values(connection.get(`PRAGMA ${name}`, []) ?? {})[0] ?? null;
  const version = String(connection.get<{ v: string }>('SELECT sqlite_version() AS v', [])?.v);
  if (olderThan(version, MIN_SQLITE_VERSION))
    throw new Error(`SQLite ${version} is too old: ${MIN_SQLITE_VERSION} or newer is needed`);
  pragma(`page_size = ${PAGE_OCTETS}`);
  pragma('journal_mode = WAL');
  // FULL: in WAL mode, NORMAL loses committed transactions on a power cut, but every 250 reply promises durability.
  connection.script('PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768');
  // Deleted mail is overwritten in the file: a purge is promised to be one.
  connection.script('PRAGMA secure_delete = ON');
  // Checkpoints run on this thread: in another one they cost up to 24 ms and let the WAL grow to 190 MB.
  connection.script(`PRAGMA wal_autocheckpoint = ${Math.round(LOG_OCTETS / Number(pragma('page_size')))}`);
  if (pragma('journal_mode') !== 'wal')
    throw new Error(`The file system under ${path} does not support a write-ahead log`);
  if (pragma('synchronous') !== 2)
    throw new Error('SQLite refused synchronous=FULL, without which accepted mail can be lost');
  return connection;
}

/** Closes the writing connection. The log goes into the database file, so that a copy of that file alone is complete. */
export function closeWriting(connection: DatabaseConnection): void {
  try {
    connection.get('PRAGMA wal_checkpoint(TRUNCATE)', []);
  } catch {
    // Such as a full disk: the log stays beside the file and is read at the next start.
  }
  connection.close();
}

/** Opens a read-only connection of an existing database. `cacheKib` limits its page cache. */
export function openForReading(path: string, cacheKib = 16_384): DatabaseConnection {
  const connection = new DatabaseConnection(new DatabaseSync(path, { readOnly: true, timeout: 5000 }));
  connection.script(`PRAGMA query_only = 1; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${cacheKib}`);
  return connection;
}

/** The SQLite primary result code of an error, or 0 for other errors. */
export function sqliteCode(error: unknown): number {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  return typeof code === 'number' ? code & 0xff : 0;
}

function olderThan(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((text) => text.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
