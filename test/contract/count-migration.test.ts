import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate } from '../../mail/store/engine/migrate.ts';
import { Reader } from '../../mail/store/engine/reader.ts';
import { journalCounts } from '../../mail/store/journal-count.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';

/** Two hours of a story each; the last line was not looked at when the counts came. */
const LINES = `
  INSERT INTO account (id, tenant, address, salt, iterations, created_at) VALUES (7, 1, 'Me@Box.test', x'', 1, 1);
  INSERT INTO journal (id, at, trace, event, account_id, tenant, detail) VALUES
    (1, 3600000, 'came', 'received', 7, 1, '{"from":"you@world.example","folder":"inbox"}'),
    (2, 3600001, 'spam', 'received', 7, 1, '{"from":"you@world.example","folder":"junk"}'),
    (3, 3600002, 'left', 'submitted', NULL, 1, '{"from":"news@Letters.test","to":["a@far.example"]}'),
    (4, 7200000, 'left', 'delivered', NULL, 1, '{"to":"a@far.example"}'),
    (5, 7200001, 'left', 'failed', NULL, 1, '{"to":"b@far.example"}'),
    (6, 7200002, 'bounce', 'submitted', NULL, 1, '{"from":"","to":["x@far.example"]}'),
    (7, 7200003, 'on', 'forwarded', NULL, 1, '{"from":"you@world.example","source":"boss@box.test"}'),
    (8, 7200004, 'on', 'deferred', NULL, 1, '{"to":"c@far.example"}'),
    (9, 7200005, 'lost', 'deferred', NULL, NULL, '{"to":"d@far.example"}'),
    (10, 7200006, 'came', 'received', 7, 1, '{"from":"you@world.example","folder":"inbox"}');
  INSERT INTO journal_indexed (only, line) VALUES (1, 9)`;

test('what was looked at before there were counts is counted, each line once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'migration-'));
  const connection = openForWriting(join(dir, 'old.db'));
  const all = mailMigrations();
  const at = all.findIndex((one) => one.sql.includes('CREATE TABLE journal_count'));
  migrate(connection, all.slice(0, at));
  connection.script(LINES);
  migrate(connection, all);
  const reader = new Reader(connection);
  const asked = { tenant: 1, accounts: null, from: 0, to: 24, step: 1 };
  const counts = async (domain: string | null) =>
    (await reader.query(journalCounts, { ...asked, domain })).map(({ hour, kind, n }) => `${hour} ${kind} ${n}`);
  expect((await counts('box.test')).toSorted()).toEqual(['1 junk 1', '1 received 1', '2 deferred 1']);
  expect((await counts('letters.test')).toSorted()).toEqual(['1 sent 1', '2 bounced 1', '2 delivered 1']);
  expect(await counts(null)).toHaveLength(6);
  connection.close();
  rmSync(dir, { recursive: true });
});
