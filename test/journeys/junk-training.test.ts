import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

// Training samples from moved mail survive a crash and are learned once.

let box: Box;
beforeAll(async () => {
  box = await startBox({});
});
afterAll(() => box[Symbol.asyncDispose]());

async function imap(): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth: { user: box.address, pass: box.password },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
  await client.connect();
  return client;
}

/** Reads the training state from the database, beside the process that writes it. */
function learned(): { waiting: number; junk: number; trainings: number; words: number } {
  const db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true, timeout: 5000 });
  const row = db
    .prepare(
      `SELECT (SELECT count(*) FROM training_sample) AS waiting, coalesce((SELECT junk FROM word_corpus), 0) AS junk,
         (SELECT count(*) FROM trained_sample) AS trainings, coalesce((SELECT max(junk) FROM word), 0) AS words`,
    )
    .get();
  db.close();
  return row as { waiting: number; junk: number; trainings: number; words: number };
}

test('a crash between the move and the training sample loses neither, and learns nothing twice', async () => {
  const client = await imap();
  for (let n = 1; n <= 12; n++) {
    await client.append('INBOX', `From: ann@remote.example\r\nSubject: offer ${n}\r\n\r\nCheap pills ${n}\r\n`);
  }
  await client.mailboxOpen('INBOX');
  await client.messageMove('1:12', 'Junk');
  await box.kill();
  const moved = learned();
  expect(moved.trainings + moved.waiting).toBe(12);
  await box.restart();
  // In the middle of it, wherever that is.
  await vi.waitUntil(() => learned().trainings > 0, { timeout: 15_000, interval: 5 });
  await box.kill();
  const cut = learned();
  expect(cut.trainings + cut.waiting).toBe(12);
  expect(cut.junk).toBe(cut.trainings);
  await box.restart();
  await vi.waitUntil(() => learned().waiting === 0, { timeout: 15_000, interval: 50 });
  expect(learned()).toEqual({ waiting: 0, junk: 12, trainings: 12, words: 12 });
}, 180_000);
