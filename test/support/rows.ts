import { query } from '../../mail/store/engine/types.ts';
import type { Store } from '../../mail/store/engine/types.ts';

/** Columns that triggers keep beside the rows that they follow from. */
const DERIVED: ReadonlySet<string> = new Set(['listener.due_at']);

/** The audit log also keeps what was refused, so that it is by far the longest; a search brings its keys and counts up to date. */
const BESIDE: ReadonlySet<string> = new Set(['audit', 'journal_count', 'journal_indexed', 'journal_key']);

/** Every row of every table as JSON, by table. */
export type Rows = ReadonlyMap<string, readonly string[]>;

const readAll = query('test-read-all', async (rx): Promise<[string, string[]][]> => {
  const tables = await rx.all<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  );
  const all: [string, string[]][] = [];
  for (const { name } of tables) {
    if (BESIDE.has(name)) continue;
    const columns = await rx.all<{ name: string; type: string }>('SELECT name, type FROM pragma_table_info(?)', name);
    const told = columns.filter((column) => !DERIVED.has(`${name}.${column.name}`));
    const rows = await rx.all(`SELECT ${told.map(readable).join(', ')} FROM ${name}`);
    all.push([name, rows.map((row) => JSON.stringify(row, plain))]);
  }
  return all;
});

/** Hashes of 64 bits are more than a number holds. */
function readable({ name, type }: { name: string; type: string }): string {
  if (type !== 'INTEGER') return `"${name}"`;
  const holds = `"${name}" IS NULL OR "${name}" BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  return `CASE WHEN ${holds} THEN "${name}" ELSE CAST("${name}" AS TEXT) END AS "${name}"`;
}

function plain(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

/** The whole store but what changes when nothing was done. */
export async function rowsOf(store: Store): Promise<Rows> {
  return new Map(await store.read(readAll, undefined));
}

/** Returns the rows that only one of two stores has, by table; no rows if the stores are equal. */
export function difference(before: Rows, after: Rows): { gone: string[]; added: string[] } {
  return { gone: missing(before, after), added: missing(after, before) };
}

function missing(from: Rows, to: Rows): string[] {
  return [...from].flatMap(([table, rows]) => {
    const there = new Set(to.get(table));
    return rows.filter((row) => !there.has(row)).map((row) => `${table} ${row}`);
  });
}
