import { copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const MESSAGES = 60;

let box: Box;

beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

// Each thread loads hundreds of modules: those for searches and texts start with the first of their work.
test('of the threads for the store, a new box starts the writer only', async () => {
  const names = await threadsOf(box.pid);
  expect(names.filter((name) => /^(?:store|full text|filter|reading)/.test(name))).toEqual(['store writer']);
});

test('after a clean stop the database files alone have everything', async () => {
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

/** Names of the threads of a process. */
async function threadsOf(pid: number): Promise<string[]> {
  const ids = await readdir(`/proc/${pid}/task`);
  return Promise.all(ids.map(async (id) => (await readFile(`/proc/${pid}/task/${id}/comm`, 'utf8')).trim()));
}
