import { DatabaseSync } from 'node:sqlite';
import { type AppliedRow, appliedMigrations } from '../engine/migrate.ts';
import { namesOf, type StoredRow, type StoredTable, type TableStore } from './table-store.ts';

interface TriggerText {
  name: string;
  sql: string;
}

/** Tables of an embedded database, which no other process uses. */
export class SqliteTables implements TableStore, Disposable {
  readonly #db: DatabaseSync;

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
    this.#db.exec('PRAGMA synchronous = FULL');
  }

  /** All tables except the list of migrations, which either engine writes itself. */
  get tables(): StoredTable[] {
    const rows = this.#db
      .prepare(
        `SELECT t.name AS "table", c.name, c.type FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'migration'
         ORDER BY t.name, c.cid`,
      )
      .all() as unknown as { table: string; name: string; type: StoredTable['columns'][number]['type'] }[];
    const columns = ({ name, type }: (typeof rows)[number]): StoredTable['columns'][number] => ({ name, type });
    return [...Map.groupBy(rows, ({ table }) => table)].map(([name, all]) => ({ name, columns: all.map(columns) }));
  }

  get applied(): AppliedRow[] {
    return appliedMigrations((sql) => this.#db.prepare(sql).all());
  }

  async *rows({ name, columns }: StoredTable): AsyncGenerator<StoredRow> {
    const statement = this.#db.prepare(['SELECT', namesOf(columns), 'FROM', `"${name}"`].join(' '));
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    for (const row of statement.iterate()) yield row as unknown as StoredRow;
  }

  async replace({ name, columns }: StoredTable, rows: AsyncIterable<StoredRow>): Promise<void> {
    this.#db.exec(['DELETE', 'FROM', `"${name}"`].join(' '));
    const values = columns.map(() => '?').join(', ');
    const insert = this.#db.prepare(
      ['INSERT', 'INTO', `"${name}"`, `(${namesOf(columns)}) VALUES (${values})`].join(' '),
    );
    for await (const row of rows) insert.run(...row);
  }

  async numbers(): Promise<Map<string, bigint>> {
    const found = new Map<string, bigint>();
    for (const table of this.#numbered) {
      const text = ['SELECT', `max("${table.column}") AS seq`, 'FROM', `"${table.name}"`].join(' ');
      const { seq } = this.#get(text);
      if (seq !== null) found.set(table.name, seq as bigint);
    }
    const given = this.#db.prepare('SELECT name, seq FROM sqlite_sequence');
    given.setReadBigInts(true);
    for (const { name, seq } of given.all()) found.set(String(name), seq as bigint);
    return found;
  }

  /** Tables whose rows SQLite numbers, also those without AUTOINCREMENT. */
  get #numbered(): { name: string; column: string }[] {
    return this.#db
      .prepare(
        `SELECT t.name, max(c.name) AS column FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.type = 'table' AND t.wr = 0 AND t.name NOT LIKE 'sqlite_%' AND c.pk > 0
         GROUP BY t.name HAVING count(*) = 1 AND max(c.type) = 'INTEGER'`,
      )
      .all() as unknown as { name: string; column: string }[];
  }

  #get(text: string): Record<string, unknown> {
    const statement = this.#db.prepare(text);
    statement.setReadBigInts(true);
    return statement.get() ?? {};
  }

  async filled(numbers: ReadonlyMap<string, bigint>, work: () => Promise<void>): Promise<void> {
    const triggers = this.#db
      .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
      .all() as unknown as TriggerText[];
    this.#db.exec('BEGIN');
    for (const { name } of triggers) this.#db.exec(['DROP', 'TRIGGER', `"${name}"`].join(' '));
    await work();
    for (const { sql } of triggers) this.#db.exec(sql);
    this.#setNumbers(numbers);
    this.#db.exec('COMMIT');
  }

  #setNumbers(numbers: ReadonlyMap<string, bigint>): void {
    this.#db.exec('DELETE FROM sqlite_sequence');
    const insert = this.#db.prepare(
      `INSERT INTO sqlite_sequence (name, seq) SELECT name, ?2 FROM sqlite_schema
       WHERE name = ?1 AND type = 'table' AND instr(sql, 'AUTOINCREMENT') > 0`,
    );
    for (const [table, number] of numbers) insert.run(table, number);
  }

  /** Closes the database; nothing is left in its log. */
  [Symbol.dispose](): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#db.close();
  }
}
