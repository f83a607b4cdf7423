import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import { sourceStatements } from '../support/source-statements.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Files of SQLite's own engine and of the full-text index, which is a SQLite file on every engine. */
const OF_SQLITE =
  /^mail\/(?:store\/(?:(?:engine|search)\/|move\/sqlite-tables)|backup\/create-backup|jmap\/email-query\/text-matcher|imap\/search\/relevant)/;
const ORDER = /\bORDER BY ((?:[^()]|\((?:[^()]|\([^()]*\))*\))+?)(?= (?:LIMIT|OFFSET|UNION|ROWS)\b|\)|$)/g;
const KEY = /^(?:(\w+)\.)?"?(\w+)"?(?: COLLATE \w+)?(?: ASC| DESC)?(?: NULLS (FIRST|LAST))?$/i;

/** Keys that sort no null beside another value, with the reason. */
const REVIEWED = [
  // A column of a view, over columns that are not null.
  'mail/store/submission/identity.ts: ORDER BY d.key',
  // Null only in the one row of a message that is gone.
  'mail/store/transfer/remote-folder.ts: ORDER BY n.mailbox_id',
];

/** Columns that may be null, as `table.column`, and all columns of the tables. */
function columnsOf(db: DatabaseSync): { nullable: Set<string>; tables: Map<string, Set<string>> } {
  const nullable = new Set<string>();
  const tables = new Map<string, Set<string>>();
  const rows = db
    .prepare(
      `SELECT t.name AS "table", c.name AS "column", c."notnull" OR c.pk > 0 AS required
       FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'`,
    )
    .all() as { table: string; column: string; required: number }[];
  for (const { table, column, required } of rows) {
    tables.set(table, (tables.get(table) ?? new Set()).add(column));
    if (required === 0) nullable.add(`${table}.${column}`);
  }
  return { nullable, tables };
}

test('no statement sorts by a value that may be null: SQLite has nulls first, PostgreSQL last', () => {
  using db = new DatabaseSync(':memory:');
  for (const migration of [...mailMigrations(), ...applianceMigrations()]) db.exec(migration.sql);
  const { nullable, tables } = columnsOf(db);
  /** Tables of a statement that a key may be of: that of its alias, or all. */
  const tablesOf = (text: string, alias: string | undefined): string[] =>
    [
      ...text.matchAll(
        /\b(?:FROM|JOIN|INTO|UPDATE|,) (\w+)(?: (?:AS )?(?!INDEXED|CROSS|JOIN|LEFT|WHERE|ON|SET|ORDER)(\w+))?/g,
      ),
    ]
      .filter(([, table = '', name]) => tables.has(table) && (alias === undefined || alias === (name ?? table)))
      .map(([, table = '']) => table);
  const mayBeNull = (text: string, key: string): boolean => {
    const [, alias, column = '', nulls] = KEY.exec(key) ?? [];
    if (nulls !== undefined) return false;
    const compared = new RegExp(`\\b${column} (?:IS NOT NULL|[<>=]|BETWEEN|IN )`).test(text);
    const outer = alias !== undefined && new RegExp(`LEFT JOIN (?:\\w+ |\\([^]*\\) )${alias}\\b`).test(text);
    if (compared) return false;
    return outer || tablesOf(text, alias).some((table) => nullable.has(`${table}.${column}`));
  };
  const found: string[] = [];
  let sorted = 0;
  for (const { file, text } of sourceStatements(ROOT)) {
    if (OF_SQLITE.test(file)) continue;
    for (const [, list = ''] of text.matchAll(ORDER)) {
      sorted++;
      for (const key of list.split(/,(?![^(]*\))/)) {
        if (mayBeNull(text, key.trim())) found.push(`${file}: ORDER BY ${key.trim()}`);
      }
    }
  }
  expect(sorted).toBeGreaterThan(250);
  expect(found).toEqual(REVIEWED);
});
