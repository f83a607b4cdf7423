import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import { sourceStatements } from '../support/source-statements.ts';

const ROOT = join(import.meta.dirname, '../..');

// The plans of PostgreSQL are those of postgres-schema.test.ts.
test('the emails of a thread are found by its number and by the partial index of all others', () => {
  using db = new DatabaseSync(':memory:');
  for (const { sql } of [...mailMigrations(), ...applianceMigrations()]) db.exec(sql);
  const planOf = (text: string): string =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map((row) => String(row['detail']))
      .join('\n');
  const statements = sourceStatements(ROOT).filter(({ text }) => /\.thread_id <> \w\.id/.test(text));
  expect(statements.length).toBeGreaterThanOrEqual(14);
  for (const { text } of statements) {
    const plan = planOf(text);
    expect(plan, text).toMatch(/SEARCH \w USING (?:COVERING )?INDEX email_thread/);
    expect(plan, text).not.toMatch(/SCAN [ep]\b/);
  }
  // An email that starts a thread is not in the index: a statement that names the thread alone would miss it.
  const others = sourceStatements(ROOT).filter(({ text }) => /\bemail (\w) .*\b\1\.thread_id (?:=|IN)\b/.test(text));
  expect(others.filter(({ text }) => !statements.some((one) => one.text === text))).toEqual([]);
});
