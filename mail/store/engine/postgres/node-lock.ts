import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { openPool, PostgresConnection } from './connection.ts';

/** Key of the advisory lock of the node that writes. Any number: it is used for nothing else. */
const LOCK = 7_205_759_403_792;
/** Time in which a server notices that the connection of an ended process is gone. */
const LOCK_ATTEMPTS = 20;
const LOCK_INTERVAL_MS = 500;

/** A connection to write with. It holds the lock of the node, which ends with it. */
export class NodeConnection {
  readonly sql: postgres.ReservedSql;
  readonly #pool: postgres.Sql;
  #statements: PostgresConnection | undefined;

  constructor(pool: postgres.Sql, sql: postgres.ReservedSql) {
    this.#pool = pool;
    this.sql = sql;
  }

  /** Columns that number the rows of the tables, once there are tables. */
  use(numbered: ReadonlyMap<string, string>): this {
    this.#statements = new PostgresConnection(this.sql, numbered);
    return this;
  }

  statements(): PostgresConnection {
    if (this.#statements === undefined) throw new Error('the tables are not known yet');
    return this.#statements;
  }

  /** Number of replies of the database. */
  get replies(): number {
    return this.#statements?.replies ?? 0;
  }

  /** Closes it at once: statements that await a reply fail. */
  abort(): Promise<void> {
    return this.#pool.end({ timeout: 0 });
  }

  async close(): Promise<void> {
    this.sql.release();
    await this.#pool.end({ timeout: 5 });
  }
}

/** Connects and takes the lock. Rejects if another node holds it. */
export async function connectNode(url: string, attempts = LOCK_ATTEMPTS): Promise<NodeConnection> {
  const pool = openPool(url, 1);
  try {
    // Without a statement before it, reserve never resolves on a connection that is new (postgres 3.4.9).
    await pool.unsafe('SELECT 1');
    const sql = await pool.reserve();
    await lock(sql, attempts);
    return new NodeConnection(pool, sql);
  } catch (error) {
    await pool.end({ timeout: 0 });
    throw error;
  }
}

async function lock(sql: postgres.ReservedSql, attempts: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const [row] = await sql.unsafe('SELECT pg_try_advisory_lock($1::bigint)::int AS held', [LOCK]);
    if (row?.['held'] === 1) return;
    if (attempt >= attempts) break;
    await delay(LOCK_INTERVAL_MS);
  }
  throw new Error(
    'Another Mailstead writes to this database: a database has one node at a time. Stop the other one, then start again.',
  );
}
