import { copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { onPostgres } from '../support/test-database.ts';

const MESSAGES = 60;

let box: Box;

beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

// Each thread loads hundreds of modules: those for searches and the filter start with the first of their work. That of the full
// text looks for messages without their text 2 s after the start, which may have passed here.
test('of the threads for the store, a new box starts the writer only, and that of the full text', async () => {
  const names = await threadsOf(box.pid);
  expect(names).toContain('store writer');
  expect(names.filter((name) => /^(?:store reader|filter|reading)/.test(name))).toEqual([]);
});

// On PostgreSQL no database file has mail.
test.skipIf(onPostgres)('after a clean stop the database files alone have everything', async () => {
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

/** Names of the threads of a process. One that ends meanwhile has none. */
async function threadsOf(pid: number): Promise<string[]> {
  const ids = await readdir(`/proc/${pid}/task`);
  return Promise.all(
    ids.map((id) =>
      readFile(`/proc/${pid}/task/${id}/comm`, 'utf8').then(
        (name) => name.trim(),
        () => '',
      ),
    ),
  );
}
