import { DatabaseSync } from 'node:sqlite';
import { openPool, PostgresConnection } from '../../mail/store/engine/postgres/connection.ts';
import { isPostgres } from '../../mail/store/engine/postgres/url.ts';
import { query, type Row, type Value } from '../../mail/store/engine/types.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Changes rows of a store beside it, as damage or an older version would. */
export async function rawChange({ database }: MailStore, sql: string, ...params: (number | string)[]): Promise<void> {
  await changeDatabase(database, sql, params);
}

/** Changes rows of a database, a path or a URL, in the dialect of SQLite. Returns the number of changed rows. */
export async function changeDatabase(database: string, sql: string, params: readonly Value[]): Promise<number> {
  if (isPostgres(database)) return connected(database, async (rx) => (await rx.run(sql, params)).changes);
  using db = new DatabaseSync(database, { timeout: 5000 });
  return Number(db.prepare(sql).run(...params).changes);
}

/** Rows of a database, a path or a URL, by a statement in the dialect of SQLite. */
export async function rowsOfDatabase(database: string, sql: string, params: readonly Value[]): Promise<Row[]> {
  if (isPostgres(database)) return connected(database, (rx) => rx.all(sql, params));
  using db = new DatabaseSync(database, { readOnly: true, timeout: 5000 });
  return db.prepare(sql).all(...params);
}

async function connected<T>(url: string, run: (connection: PostgresConnection) => Promise<T>): Promise<T> {
  const pool = openPool(url, 1);
  try {
    return await run(new PostgresConnection(pool, new Map()));
  } finally {
    await pool.end();
  }
}

const rows = query('test-raw-rows', (rx, { sql, params }: { sql: string; params: readonly Value[] }) =>
  rx.all(sql, ...params),
);

/** Rows of a statement that no query has. */
export async function rawRows<T extends Row>(store: MailStore, sql: string, ...params: Value[]): Promise<T[]> {
  return (await store.read(rows, { sql, params })) as T[];
}
