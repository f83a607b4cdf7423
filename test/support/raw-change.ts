import { DatabaseSync } from 'node:sqlite';
import { openPool, PostgresConnection } from '../../mail/store/engine/postgres/connection.ts';
import { isPostgres } from '../../mail/store/engine/postgres/url.ts';
import { query, type Row, type Value } from '../../mail/store/engine/types.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Changes rows of a store beside it, as damage or an older version would. */
export async function rawChange({ database }: MailStore, sql: string, ...params: (number | string)[]): Promise<void> {
  if (isPostgres(database)) {
    const pool = openPool(database, 1);
    await new PostgresConnection(pool, new Map()).run(sql, params);
    await pool.end();
  } else {
    using db = new DatabaseSync(database, { timeout: 5000 });
    db.prepare(sql).run(...params);
  }
}

const rows = query('test-raw-rows', (rx, { sql, params }: { sql: string; params: readonly Value[] }) =>
  rx.all(sql, ...params),
);

/** Rows of a statement that no query has. */
export async function rawRows<T extends Row>(store: MailStore, sql: string, ...params: Value[]): Promise<T[]> {
  return (await store.read(rows, { sql, params })) as T[];
}
