import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate } from '../../mail/store/engine/migrate.ts';
import { Reader } from '../../mail/store/engine/reader.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { listSuppressions } from '../../mail/store/suppression.ts';

test('who had unsubscribed before wishes were kept apart is listed as before, and only as a wish', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'migration-'));
  const connection = openForWriting(join(dir, 'old.db'));
  const all = mailMigrations();
  const at = all.findIndex((one) => one.sql.includes('CREATE TABLE unsubscription'));
  migrate(connection, all.slice(0, at));
  connection.script(`INSERT INTO suppression (tenant, key, reason, source, at, trace)
    VALUES (1, 'a@x.test', 'unsubscribe', 'link', 5, 'm'), (1, 'b@x.test', 'manual', 'tok', 6, '')`);
  const before = connection.all('SELECT key, reason, source, said, trace, at FROM suppression ORDER BY key', []);
  migrate(connection, all);
  const after = await new Reader(connection).query(listSuppressions, { tenant: 1, after: '', limit: 9 });
  expect(after).toEqual(before);
  expect(connection.all('SELECT key FROM suppression', [])).toEqual([{ key: 'b@x.test' }]);
  connection.close();
  rmSync(dir, { recursive: true });
});
