import postgres from 'postgres';
import type { Row, Value } from '../types.ts';
import type { StatementRunner } from '../transaction.ts';
import { toPostgres } from './dialect.ts';
import { isAway, StatementFailure } from './errors.ts';
import { storedText } from '../stored-text.ts';
import { tlsOf } from './tls.ts';
import { connectionAddress } from './url.ts';

/** Schema with the tables and with the functions of functions.sql, which are found before PostgreSQL's own. */
export const SCHEMA = 'mailstead';

/** Numbers of PostgreSQL's types: integers are read as JavaScript numbers, booleans as 1 and 0, JSON as its text. */
const TYPES = {
  integer: { to: 20, from: [20, 1700], serialize: integerText, parse: Number },
  truth: { to: 16, from: [16], serialize: String, parse: (text: string) => Number(text === 't') },
  json: { to: 114, from: [114, 3802], serialize: String, parse: (text: string) => text },
};

/** SQLite compares an integer with a bound that is infinite or beyond 64 bits; no integer of PostgreSQL is. */
function integerText(value: unknown): string {
  if (typeof value !== 'number') return String(value);
  if (value >= 2 ** 63) return '9223372036854775807';
  return value <= -(2 ** 63) ? '-9223372036854775808' : String(value);
}

/** A value as PostgreSQL can store it. SQLite takes NaN for NULL: a cursor of another list is no number, for one. */
function storedValue(value: Value): Value {
  if (typeof value === 'string') return storedText(value);
  return Number.isNaN(value) ? null : value;
}

/** Sends a statement and awaits all its rows. */
export interface StatementSender {
  unsafe(
    text: string,
    params?: (string | number)[],
    options?: postgres.UnsafeQueryOptions,
  ): PromiseLike<postgres.RowList<postgres.Row[]>>;
}

/** The part of the library that sends a statement, also one whose rows come or go in parts. */
export type StatementStreams = Pick<postgres.Sql, 'unsafe'>;

/** Opens a pool of at most `max` connections; `onclose` is called when one is lost. Statements are prepared once a connection. */
export function openPool(url: string, max: number, onclose?: () => void): postgres.Sql {
  const { href, socket } = connectionAddress(url);
  return postgres(href, {
    ...(socket !== undefined && { host: socket }),
    ssl: tlsOf(url),
    max,
    // The lock of the node ends with its connection.
    max_lifetime: null,
    types: TYPES as never,
    fetch_types: false,
    ...(onclose !== undefined && { onclose }),
    onnotice: () => undefined,
    connect_timeout: 10,
    connection: {
      search_path: `${SCHEMA}, pg_catalog`,
      synchronous_commit: 'on',
      application_name: 'mailstead',
      // Statements are short: compiling one costs more than it saves.
      jit: 'off',
      // As in SQLite: joins in the order in which they are written, each row looked up by an index. A plan is made once a
      // connection; the one that PostgreSQL makes for empty tables reads whole tables when they have grown.
      plan_cache_mode: 'force_generic_plan',
      join_collapse_limit: 1,
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      enable_material: 'off',
      // The lock of a node that vanished from the network ends within 20 s.
      tcp_keepalives_idle: 5,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
      tcp_user_timeout: 15_000,
      // Also while it waits for its turn among the nodes, PostgreSQL notices that a node has gone.
      client_connection_check_interval: 2_000,
    },
  });
}

const translations = new Map<string, string>();

/** Translation of a static statement. */
function translationOf(sql: string): string {
  const known = translations.get(sql);
  if (known !== undefined) return known;
  const text = toPostgres(sql);
  translations.set(sql, text);
  return text;
}

const INSERT_INTO = /^\s*INSERT INTO (\w+)/;
const RETURNING = /\bRETURNING\b/;

/** Runs statements on a pool or on one reserved connection. */
export class PostgresConnection implements StatementRunner {
  readonly #sql: StatementSender;
  readonly #numbered: ReadonlyMap<string, string>;
  /** Ends with the last statement that was sent. */
  #last: Promise<void> = Promise.resolve();
  /** The first error of statements that were sent. */
  #failure: Error | undefined;
  /** Statements that await their result. */
  pending = 0;
  /** Statements that were sent, and replies to them. */
  sent = 0;
  replies = 0;
  /** Called when no statement awaits its result any more. */
  idle: (() => void) | undefined;

  /** `numbered`: the column that numbers the rows of a table, by table. */
  constructor(sql: StatementSender, numbered: ReadonlyMap<string, string>) {
    this.#sql = sql;
    this.#numbered = numbered;
  }

  async get<T extends Row>(sql: string, params: readonly Value[]): Promise<T | undefined> {
    return (await this.#execute(translationOf(sql), params))[0] as T | undefined;
  }

  async all<T extends Row>(sql: string, params: readonly Value[]): Promise<T[]> {
    return [...(await this.#execute(translationOf(sql), params))] as unknown as T[];
  }

  /** `id`: number of the last inserted row. */
  async run(sql: string, params: readonly Value[]): Promise<{ changes: number; id: number }> {
    const column = RETURNING.test(sql) ? undefined : this.#numbered.get(INSERT_INTO.exec(sql)?.[1] ?? '');
    const text = translationOf(sql);
    const rows = await this.#execute(column === undefined ? text : `${text} RETURNING ${column}`, params);
    return { changes: rows.count, id: column === undefined ? 0 : Number(rows.at(-1)?.[column] ?? 0) };
  }

  send(sql: string, params: readonly Value[]): void {
    this.#last = this.#execute(translationOf(sql), params).then(
      () => undefined,
      (error: unknown) => void (this.#failure ??= error as Error),
    );
  }

  async settle(): Promise<void> {
    // Replies come in the order of the statements.
    await this.#last;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  /** Commits. False: PostgreSQL rolled back, since a statement failed. */
  async commit(): Promise<boolean> {
    return (await this.#execute('COMMIT', [])).command === 'COMMIT';
  }

  async #execute(text: string, params: readonly Value[]): Promise<postgres.RowList<postgres.Row[]>> {
    this.sent++;
    this.pending++;
    try {
      // `simple: false`: without parameters a statement would not be prepared.
      const values = params.map(storedValue);
      return withoutHoles(await this.#sql.unsafe(text, values as never[], { prepare: true, simple: false } as never));
    } catch (error) {
      throw isAway(error) ? error : new StatementFailure(error as Error, text);
    } finally {
      this.pending--;
      this.replies++;
      if (this.pending === 0) this.idle?.();
    }
  }
}

/**
 * Rows from the first one on. After a statement that failed amid its rows, the library puts those of the next one behind as
 * many holes (postgres 3.4.9, issue 1181).
 */
function withoutHoles<T extends unknown[]>(rows: T): T {
  if (rows.length === 0 || 0 in rows) return rows;
  const holes = rows.findIndex((row) => row !== undefined);
  rows.splice(0, holes);
  return rows;
}

/** Columns that number the rows of their tables. */
export async function numberedTables(sql: StatementSender): Promise<Map<string, string>> {
  const rows = await sql.unsafe(
    `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $1 AND is_identity = 'YES'`,
    [SCHEMA],
  );
  return new Map(rows.map((row) => [String(row['table_name']), String(row['column_name'])]));
}
