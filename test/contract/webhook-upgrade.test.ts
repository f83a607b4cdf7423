import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate } from '../../mail/store/engine/migrate.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../../src/migrations.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'upgrade-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('webhooks of before keep what waits for them, their history and their ids', () => {
  const all = [...mailMigrations(), ...applianceMigrations()];
  const connection = openForWriting(join(dir, 'mailstead.db'));
  migrate(
    connection,
    all.filter(({ sql }) => !sql.includes('listener_id')),
  );
  connection.script(`
    INSERT INTO account (id, tenant, address, salt, iterations, created_at, announce)
      VALUES (5, 1, 'a@box.test', x'00', 1, 0, 1), (6, 1, 'b@box.test', x'00', 1, 0, 0);
    INSERT INTO webhook (account_id, organization_id, url, secret, created_at, failures)
      VALUES (5, 1, 'https://a.example/', x'01', 77, 2);
    INSERT INTO arrival (id, account_id, email_id, at, attempts, next_at, dead_at)
      VALUES (90, 5, 901, 1, 0, 2, NULL), (91, 5, 902, 1, 6, 3, NULL), (92, 5, 903, 1, 11, 4, 5);
    INSERT INTO arrival (id, account_id, email_id, at, next_at) VALUES (99, 5, 904, 1, 1);
    DELETE FROM arrival WHERE id = 99;
    INSERT INTO webhook_delivery (account_id, arrival_id, email_id, at, url, status, problem, response, duration_ms)
      VALUES (5, 80, 900, 1, 'https://a.example/', 200, NULL, 'ok', 7);`);
  migrate(connection, all);
  expect(connection.all('SELECT account_id, events FROM listener', [])).toEqual([
    { account_id: 5, events: '["received"]' },
  ]);
  expect(connection.all('SELECT id, email_id, state, attempts FROM notice ORDER BY id', [])).toEqual([
    { id: 90, email_id: 901, state: 0, attempts: 0 },
    { id: 91, email_id: 902, state: 1, attempts: 6 },
    { id: 92, email_id: 903, state: 3, attempts: 11 },
  ]);
  expect(connection.all('SELECT account_id, url, created_at, failures, disabled_at FROM webhook', [])).toEqual([
    { account_id: 5, url: 'https://a.example/', created_at: 77, failures: 2, disabled_at: null },
  ]);
  expect(connection.all('SELECT notice_id, email_id, outcome, response FROM webhook_delivery', [])).toEqual([
    { notice_id: 80, email_id: 900, outcome: 'told', response: 'ok' },
  ]);
  // Receivers remember ids: none is given twice.
  const { id } = connection.run(
    `INSERT INTO notice (listener_id, event, trace, detail, at, next_at) VALUES (1, 'test', '', '{}', 1, 1)`,
    [],
  );
  expect(id).toBe(100);
  connection.close();
});
