import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const MESSAGES = 60;

test('after a clean stop the database files alone have everything', async () => {
  await using box = await startBox();
  using reader = await MailboxReader.open(box.port('imap'));
  const message = (n: number): Buffer => Buffer.from(`Subject: message ${n}\r\n\r\n${`needle ${n}\r\n`.repeat(500)}`);
  for (let n = 0; n < MESSAGES; n += 1) expect(await reader.append('INBOX', message(n))).toMatch(/ OK /);
  await reader.command('SELECT INBOX');
  await reader.command('SEARCH TEXT needle');
  await box.stop();

  const copy = await mkdtemp(join(tmpdir(), 'copy-'));
  try {
    const names = await readdir(box.dataDir);
    for (const log of names.filter((name) => name.endsWith('-wal'))) {
      expect((await stat(join(box.dataDir, log))).size, log).toBe(0);
    }
    const databases = names.filter((name) => name.endsWith('.db'));
    expect(databases).toContain('mailstead.db');
    for (const name of databases) await copyFile(join(box.dataDir, name), join(copy, name));
    const db = new DatabaseSync(join(copy, 'mailstead.db'));
    const found = db.prepare("SELECT count(*) AS n FROM email_meta WHERE subject LIKE 'message %'").get();
    expect(found).toEqual({ n: MESSAGES });
    db.close();
  } finally {
    await rm(copy, { recursive: true });
  }
});
