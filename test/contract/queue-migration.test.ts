import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate } from '../../mail/store/engine/migrate.ts';
import { Reader } from '../../mail/store/engine/reader.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { dueRows, nextDue } from '../../mail/store/queue-look.ts';

test('what waited before there were lanes is found, by sender, and leaves with its lane', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'migration-'));
  const connection = openForWriting(join(dir, 'old.db'));
  const all = mailMigrations();
  const at = all.findIndex((one) => one.sql.includes('CREATE TABLE queue_lane'));
  migrate(connection, all.slice(0, at));
  connection.script(`
    INSERT INTO submission (id, trace, tenant, account_id, blob_id, sender, smtputf8, eight_bit, ret, envid, sign_as, size, created_at)
      VALUES (1, 'a', 1, 7, 0, 'me@box.test', 0, 0, '', '', '', 1, 0), (2, 'b', 2, NULL, 0, '', 0, 0, '', '', '', 1, 0);
    INSERT INTO queue (submission_id, recipient, domain, state, next_at, notify, orcpt, created_at)
      VALUES (1, 'u@x.test', 'x.test', 0, 50, '', '', 0), (1, 'v@x.test', 'x.test', 0, 40, '', '', 0),
             (1, 'h@y.test', 'y.test', 1, 10, '', '', 0), (2, 'w@x.test', 'x.test', 0, 60, '', '', 0);`);
  migrate(connection, all);
  const reader = new Reader(connection);
  expect(await reader.query(nextDue, undefined)).toBe(40);
  const look = { now: 55, horizon: 1000, limit: 10, lanes: [], owners: [], after: undefined };
  const found = await reader.query(dueRows, look);
  expect(found.rows.map((row) => [row.owner, row.recipient])).toEqual([
    [7, 'v@x.test'],
    [7, 'u@x.test'],
  ]);
  const later = await reader.query(dueRows, { ...look, now: 60 });
  expect(later.rows.map((row) => row.owner)).toEqual([-2, 7, 7]);
  connection.script('DELETE FROM queue');
  expect(connection.all('SELECT id FROM queue_lane', [])).toEqual([]);
  connection.close();
  rmSync(dir, { recursive: true });
});
