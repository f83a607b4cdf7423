import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AppliedRow } from '../engine/migrate.ts';
import { numberedTables, type StatementSender } from '../engine/postgres/connection.ts';
import type { DedicatedConnection } from '../engine/postgres/dedicated.ts';
import type { StoredValue } from './row-digest.ts';
import { namesOf, type StoredRow, type StoredTable, type TableStore } from './table-store.ts';

const ROWS = 200;
const CHUNK_CHARACTERS = 64 * 1024;

/** Tables of a database on PostgreSQL, by the connection that holds the lock of the node. */
export class PostgresTables implements TableStore {
  readonly #sql: StatementSender;
  readonly #connection: DedicatedConnection;

  constructor(connection: DedicatedConnection) {
    this.#sql = connection.sql;
    this.#connection = connection;
  }

  async applied(): Promise<AppliedRow[]> {
    return (await this.#sql.unsafe('SELECT ledger, number, checksum FROM migration')) as unknown as AppliedRow[];
  }

  async isUsed(): Promise<boolean> {
    return (await this.#sql.unsafe('SELECT 1 FROM account LIMIT 1')).length > 0;
  }

  async *rows({ name, columns }: StoredTable): AsyncGenerator<StoredRow> {
    const list = columns.map((column) => (column.type === 'INTEGER' ? textOf(column.name) : `"${column.name}"`));
    const text = ['SELECT', list.join(', '), 'FROM', `"${name}"`].join(' ');
    for await (const rows of this.#connection.streams.unsafe(text).cursor(ROWS)) {
      for (const row of rows) yield columns.map((column) => valueOf(column.type, row[column.name]));
    }
  }

  async replace({ name, columns }: StoredTable, rows: AsyncIterable<StoredRow>): Promise<void> {
    await this.#sql.unsafe(['DELETE', 'FROM', `"${name}"`].join(' '));
    const copy = this.#connection.streams.unsafe(`COPY "${name}" (${namesOf(columns)}) FROM STDIN`);
    const target = await copy.writable();
    await Promise.race([pipeline(Readable.from(linesOf(rows)), target), refusalOf(copy)]);
  }

  async numbers(): Promise<Map<string, bigint>> {
    const found = new Map<string, bigint>();
    for (const [table, sequence] of await this.#sequences()) {
      const text = ['SELECT', 'last_value::text AS number, is_called::int AS used', 'FROM', sequence].join(' ');
      const [row] = await this.#sql.unsafe(text);
      if (row?.['used'] === 1) found.set(table, BigInt(String(row['number'])));
    }
    return found;
  }

  async filled(numbers: ReadonlyMap<string, bigint>, work: () => Promise<void>): Promise<void> {
    await this.#sql.unsafe('BEGIN');
    try {
      await this.#triggers('DISABLE');
      await work();
      await this.#triggers('ENABLE');
      for (const [table, sequence] of await this.#sequences()) {
        const number = numbers.get(table);
        if (number !== undefined) await this.#sql.unsafe('SELECT setval($1, $2::bigint)', [sequence, String(number)]);
      }
      await this.#sql.unsafe('COMMIT');
    } catch (error) {
      await this.#sql.unsafe('ROLLBACK');
      throw error;
    }
  }

  /** Names of the sequences that number the rows of tables. */
  async #sequences(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const [table, column] of await numberedTables(this.#sql)) {
      const [row] = await this.#sql.unsafe('SELECT pg_get_serial_sequence($1, $2) AS name', [`"${table}"`, column]);
      found.set(table, String(row?.['name']));
    }
    return found;
  }

  async #triggers(how: 'DISABLE' | 'ENABLE'): Promise<void> {
    const tables = await this.#sql.unsafe(
      `SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger WHERE NOT tgisinternal`,
    );
    for (const row of tables) {
      await this.#sql.unsafe(['ALTER', 'TABLE', String(row['name']), how, 'TRIGGER USER'].join(' '));
    }
  }
}

/** As text: a number of JavaScript has only 53 bits. */
function textOf(name: string): string {
  return `"${name}"::text AS "${name}"`;
}

function valueOf(type: string, value: unknown): StoredValue {
  return type === 'INTEGER' && value !== null ? BigInt(value as string) : (value as StoredValue);
}

/**
 * Rejects when a COPY is refused. PostgreSQL may say so behind the last row: the library then rejects its query alone, which it
 * has resolved with the stream before, and the stream never ends (postgres 3.4.9).
 */
function refusalOf(copy: object): Promise<never> {
  return new Promise((_resolve, reject) => Object.assign(copy, { reject }));
}

/** Lines of COPY, many in a chunk. */
async function* linesOf(rows: AsyncIterable<StoredRow>): AsyncGenerator<string> {
  let chunk = '';
  for await (const row of rows) {
    chunk += `${row.map(copyText).join('\t')}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function copyText(value: StoredValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return value.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '');
  return typeof value === 'object' ? `\\\\x${Buffer.from(value).toString('hex')}` : String(value);
}
