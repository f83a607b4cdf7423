import { applianceMigrations } from '../../src/core/migrations.ts';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseConnection, openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate, type Migration } from '../../mail/store/engine/migrate.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';

/** SHA-256 of step 1 of each ledger. A change of a table is a new step; step 1 stays as it was released. */
const RELEASED = {
  mail: '9d401cbc2b2af483faba30663480d7651c608372155261fe51f2242af93cb7b0',
  appliance: '7742fd85aff9f9cfdb47557acfcc6627dc4b3790bee94f0f5c6e1262f45949f6',
};

const steps = (): Migration[] => [...mailMigrations(), ...applianceMigrations()];
const next: Migration = {
  ledger: 'mail',
  number: mailMigrations().length + 1,
  sql: `ALTER TABLE domain ADD COLUMN color TEXT NOT NULL DEFAULT 'gray'; CREATE INDEX domain_color ON domain (color)`,
};

let directory: string;
let connection: DatabaseConnection;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'schema-'));
  connection = openForWriting(join(directory, 'mailstead.db'));
});
afterEach(() => {
  connection.close();
  rmSync(directory, { recursive: true });
});

const addDomain = (): void =>
  connection.script(`INSERT INTO domain (tenant, name, created_at) VALUES (1, 'box.test', 7)`);
const schema = (): unknown[] => connection.all('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name', []);
const applied = (): string[] =>
  connection
    .all<{ ledger: string; number: number }>('SELECT ledger, number FROM migration ORDER BY ledger, number', [])
    .map(({ ledger, number }) => `${ledger} ${number}`);

describe('the schema', () => {
  test.each(Object.entries(RELEASED))('of %s has the released checksum', (ledger, checksum) => {
    const first = steps().find((step) => step.ledger === ledger && step.number === 1);
    expect(
      createHash('sha256')
        .update(first?.sql ?? '')
        .digest('hex'),
    ).toBe(checksum);
  });

  test('has a comment for each column', () => {
    const columns = steps().flatMap(({ sql }) => sql.match(/^ {2}[a-z_0-9]+ (?:INTEGER|TEXT|BLOB|REAL)\b.*$/gm) ?? []);
    expect(columns.length).toBeGreaterThan(700);
    expect(columns.filter((line) => !/ -- \S/.test(line))).toEqual([]);
  });
});

/** Ledger and number of every step. */
const known = (): string[] =>
  steps()
    .toSorted((a, b) => a.ledger.localeCompare(b.ledger) || a.number - b.number)
    .map(({ ledger, number }) => `${ledger} ${number}`);

describe('an upgrade', () => {
  test('applies the steps that are missing, once, and keeps the data', () => {
    migrate(connection, steps());
    addDomain();
    migrate(connection, [...steps(), next]);
    migrate(connection, [...steps(), next]);
    expect(connection.all('SELECT name, created_at, color FROM domain', [])).toEqual([
      { name: 'box.test', created_at: 7, color: 'gray' },
    ]);
    expect(applied()).toEqual([...known(), `mail ${next.number}`]);
  });

  test('leads to the same schema as a new database', () => {
    migrate(connection, steps());
    migrate(connection, [...steps(), next]);
    const upgraded = schema();
    const fresh = openForWriting(join(directory, 'fresh.db'));
    migrate(fresh, [...mailMigrations(), next, ...applianceMigrations()]);
    expect(upgraded).toEqual(fresh.all('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name', []));
    fresh.close();
  });

  test('that fails halfway leaves the database as it was', () => {
    migrate(connection, steps());
    addDomain();
    const before = schema();
    expect(() =>
      migrate(connection, [...steps(), { ...next, sql: `${next.sql}; SELECT nothing FROM nowhere` }]),
    ).toThrow(`Migration mail ${next.number} failed and was rolled back`);
    expect(schema()).toEqual(before);
    expect(applied()).toEqual(known());
  });

  test('is refused when an applied step was edited', () => {
    migrate(connection, steps());
    const edited = steps().map((step) => (step.ledger === 'mail' ? { ...step, sql: `${step.sql}\n--` } : step));
    expect(() => migrate(connection, edited)).toThrow('Migration mail 1 differs from the one');
  });

  test('is refused for a database of a newer version', () => {
    migrate(connection, [...steps(), next]);
    expect(() => migrate(connection, steps())).toThrow(`newer Mailstead (migration mail ${next.number})`);
  });
});
