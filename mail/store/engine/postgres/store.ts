import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { StoreFailure } from '../client.ts';
import type { ThreadParts } from '../thread.ts';
import { type Command, type Query, type Read, type Store, StoreBusy, type Value, type WakeUp } from '../types.ts';
import { isAway, numberedTables, openPool, PostgresConnection } from './connection.ts';
import { checkDatabase, migratePostgres } from './migrate.ts';
import { PostgresWriter, type WriteConnection } from './writer.ts';

/** Key of the advisory lock of the node that writes. Any number: it is used for nothing else. */
const LOCK = 7_205_759_403_792;
/** Time in which a server notices that the connection of an ended process is gone. */
const LOCK_ATTEMPTS = 20;
const LOCK_INTERVAL_MS = 500;
const MAX_PENDING = 20_000;

export interface PostgresStoreOptions {
  url: string;
  parts: ThreadParts;
  clock: () => number;
  /** Connections for reads. */
  readers: number;
  /** Called when another node has taken over the database: the process must end. */
  fatal: (error: Error) => void;
  /** Attempts to get the lock at the start; a restart after a crash needs some. */
  lockAttempts?: number;
}

/** Commands and queries on PostgreSQL, of one node: a second one is refused by an advisory lock. */
export class PostgresStore implements Store, AsyncDisposable {
  readonly #options: PostgresStoreOptions;
  readonly #writePool: postgres.Sql;
  readonly #readPool: postgres.Sql;
  readonly #listeners = new Set<(wakeUp: WakeUp) => void>();
  readonly #writer: PostgresWriter;
  readonly #numbered: ReadonlyMap<string, string>;

  private constructor(options: PostgresStoreOptions, writePool: postgres.Sql, first: WriteConnection) {
    this.#options = options;
    this.#writePool = writePool;
    this.#readPool = openPool(options.url, options.readers);
    this.#numbered = first.numbered;
    this.#writer = new PostgresWriter(first, {
      hooks: options.parts.hooks,
      connect: () => this.#reconnect(),
      committed: (wakeUps) => {
        for (const wakeUp of wakeUps) for (const listener of this.#listeners) listener(wakeUp);
      },
    });
  }

  /** Opens the database and migrates it. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const pool = openPool(options.url, 1);
    try {
      const sql = await lockedConnection(pool, options.lockAttempts ?? LOCK_ATTEMPTS);
      await checkDatabase(sql);
      await migratePostgres(sql, options.parts.migrations);
      return new PostgresStore(options, pool, { sql, numbered: await numberedTables(sql) });
    } catch (error) {
      await pool.end({ timeout: 1 });
      throw error;
    }
  }

  write<I, O>(what: Command<I, O>, input: I): Promise<O> {
    if (this.#writer.depth >= MAX_PENDING) return Promise.reject(new StoreBusy('queue', 'too many writes are pending'));
    const stamp = { now: this.#options.clock() };
    const copy = structuredClone(input);
    return new Promise<O>((resolve, reject) => {
      this.#writer.submit({ run: (tx) => what.run(tx, copy, stamp), resolve, reject });
    });
  }

  writeSlice<I, O>(what: Command<I, O>, input: I): Promise<O> {
    return this.write(what, input);
  }

  /** Runs a query in one snapshot; a lookup without a transaction. */
  async read<I, O>(what: Query<I, O>, input: I): Promise<O> {
    try {
      if (what.single === true) return await what.run(this.#readOf(this.#readPool), input);
      const options = 'isolation level repeatable read read only';
      return (await this.#readPool.begin(options, (sql) =>
        what.run(this.#readOf(sql as unknown as postgres.Sql), input),
      )) as O;
    } catch (error) {
      if (isAway(error)) throw new StoreBusy('database', 'the database does not answer', { cause: error });
      const { message, stack } = error as Error;
      throw new StoreFailure({ message, stack: stack ?? '', reason: 'fault' });
    }
  }

  scan<I, O>(what: Query<I, O>, input: I): Promise<O> {
    return this.read(what, input);
  }

  onWakeUp(listener: (wakeUp: WakeUp) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await Promise.all([this.#writePool.end({ timeout: 5 }), this.#readPool.end({ timeout: 5 })]);
  }

  #readOf(sql: postgres.Sql): Read {
    const connection = new PostgresConnection(sql, this.#numbered);
    return {
      get: (text: string, ...params: Value[]) => connection.get(text, params) as never,
      all: (text: string, ...params: Value[]) => connection.all(text, params) as never,
    };
  }

  async #reconnect(): Promise<WriteConnection> {
    try {
      return { sql: await lockedConnection(this.#writePool, LOCK_ATTEMPTS), numbered: this.#numbered };
    } catch (error) {
      if (!isAway(error)) this.#options.fatal(error as Error);
      throw error;
    }
  }
}

/** A connection that holds the lock of the node. The lock ends with the connection. */
async function lockedConnection(pool: postgres.Sql, attempts: number): Promise<postgres.ReservedSql> {
  // Without a statement before it, reserve never resolves on a connection that is new (postgres 3.4.9).
  await pool.unsafe('SELECT 1');
  const sql = await pool.reserve();
  for (let attempt = 1; ; attempt++) {
    const [row] = await sql.unsafe('SELECT pg_try_advisory_lock($1::bigint)::int AS held', [LOCK]);
    if (row?.['held'] === 1) return sql;
    if (attempt >= attempts) break;
    await delay(LOCK_INTERVAL_MS);
  }
  sql.release();
  throw new Error(
    'Another Mailstead writes to this database: a database has one node at a time. Stop the other one, then start again.',
  );
}
