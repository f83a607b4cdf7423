import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canaryMessages } from '../../mail/store/canary.ts';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate } from '../../mail/store/engine/migrate.ts';
import { Reader } from '../../mail/store/engine/reader.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';

const COLUMNS = `account_id, thread_id, trace, size, received_at, sent_at, sent_day, attach, subj, from_k, to_k, cc_k,
  from_d, to_d, created_modseq, modseq`;

test('a canary that was planted before its octets were written down is known, and its copies are', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'migration-'));
  const connection = openForWriting(join(dir, 'old.db'));
  const all = mailMigrations();
  const at = all.findIndex((one) => one.sql.includes('ADD COLUMN blob_id'));
  migrate(connection, all.slice(0, at));
  connection.script(`
    INSERT INTO account (id, tenant, address, salt, iterations, created_at) VALUES (1, 1, 'me@box.test', x'', 1, 1);
    INSERT INTO email (id, blob_id, ${COLUMNS})
      SELECT column1, column2, 1, 1, '', 1, 1, 1, 1, 0, '', '', '', '', '', '', 1, 1 FROM (VALUES (11, 5), (12, 6), (13, 5));
    INSERT INTO canary (id, tenant, account_id, label, email_id, made_by, made_at)
      VALUES (1, 1, 1, 'message', 11, 'ada', 1), (2, 1, 1, 'secret', NULL, 'ada', 1)`);
  migrate(connection, all);
  const reader = new Reader(connection);
  const known = (emails: number[]) => reader.query(canaryMessages, { account: 1, emails });
  expect(await known([11])).toEqual([1]);
  expect(await known([13, 12])).toEqual([1]);
  expect(await known([12])).toEqual([]);
  connection.close();
  rmSync(dir, { recursive: true });
});
