import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moveToPostgres, moveToSqlite } from '../../mail/store/move/move.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { rowId } from '../../src/core/ids.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import { contentOf } from '../support/backup-world.ts';
import { EVERYTHING, sampleOf } from '../support/operation-samples.ts';
import { isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { filterMail, putMail } from '../support/put-mail.ts';
import { twoTenants } from '../support/tenants.ts';

/** Messages beside one of everything; MOVE_MESSAGES says otherwise. */
const MESSAGES = Number(process.env['MOVE_MESSAGES'] ?? 500);
const MIGRATIONS = [...mailMigrations(), ...applianceMigrations()];

/** One of many messages: in threads of four, a third of them with labels, some too large for a row. */
function messageText(n: number): string {
  const head = [
    `From: Sender ${n % 7} <sender${n % 7}@remote.example>`,
    `Subject: subject ${Math.floor(n / 4)}`,
    `Message-ID: <moved-${n}@remote.example>`,
    ...(n % 4 === 0 ? [] : [`References: <moved-${n - 1}@remote.example>`]),
  ];
  return `${head.join('\n')}\n\n${`line of message ${n} ÄÖ\n`.repeat(n % 400 === 0 ? 5000 : 120)}`;
}

/** Performs every operation that destroys nothing, and adds the messages. Returns a copy of the data directory at rest. */
async function dataDirWithEverything(): Promise<string> {
  await using tenants = await twoTenants({}, [filterMail]);
  const { main, caller } = tenants.a;
  for (const operation of EVERYTHING.filter(({ hints }) => !hints.destructive)) {
    await tenants.try(operation.name, sampleOf(operation, main), caller);
  }
  const { store } = tenants.world;
  const account = rowId('mailbox', main.mailboxId) ?? 0;
  for (let n = 0; n < MESSAGES; n++) {
    const keywords = n % 3 === 0 ? [`label-${n % 9}`] : [];
    await putMail(store, { account, receivedAt: n * 1000, keywords, trust: {} }, messageText(n));
  }
  const copy = mkdtempSync(join(tmpdir(), 'moved-'));
  cpSync(tenants.dataDir, copy, { recursive: true });
  return copy;
}

function rowsOf(dataDir: string): Record<string, number> {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'), { readOnly: true });
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).all();
  return Object.fromEntries(
    tables.map(({ name }) => [name, Number(db.prepare(`SELECT count(*) AS n FROM "${String(name)}"`).get()?.['n'])]),
  );
}

describe.skipIf(!isPostgresInstalled)('a server with one of everything moves to PostgreSQL and back', () => {
  let server: PostgresServer;
  let dataDir: string;
  beforeAll(async () => {
    server = startPostgres();
    dataDir = await dataDirWithEverything();
  }, 1_200_000);
  afterAll(() => {
    server[Symbol.dispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('every row of every table is the same, and every file', { timeout: 1_200_000 }, async () => {
    const rows = rowsOf(dataDir);
    const filled = Object.keys(rows).filter((name) => (rows[name] ?? 0) > 0);
    expect(filled).toEqual(
      expect.arrayContaining([
        'entry',
        'label',
        'submission',
        'scheduled',
        'mail_policy',
        'claim',
        'proposal',
        'audit',
      ]),
    );
    // Its times are those of each engine.
    const { migration: _, ...before } = contentOf(dataDir);
    const options = { dataDir, url: server.url, migrations: MIGRATIONS };
    const from = performance.now();
    const there = await moveToPostgres(options);
    const between = performance.now();
    await moveToSqlite(options);
    const { migration: __, ...after } = contentOf(dataDir);
    expect(after).toEqual(before);
    console.log(
      `${there.messages} messages, ${there.rows} rows in ${filled.length} of ${there.tables} tables: there in ${Math.round(between - from)} ms, back in ${Math.round(performance.now() - between)} ms`,
    );
  });
});
