import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Row } from '../../mail/store/engine/types.ts';
import { type Box, startBox } from '../support/box.ts';
import { rowsOfBox } from '../support/box-database.ts';

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

interface Training extends Row {
  waiting: number;
  junk: number;
  trainings: number;
  words: number;
}

/** Reads the training state from the database, beside the process that writes it. */
async function learned(): Promise<Training> {
  const [row] = await rowsOfBox<Training>(
    box.dataDir,
    `SELECT (SELECT count(*) FROM training_sample) AS waiting, coalesce((SELECT junk FROM word_corpus), 0) AS junk,
         (SELECT count(*) FROM trained_sample) AS trainings, coalesce((SELECT max(junk) FROM word), 0) AS words`,
  );
  return row!;
}

test('a crash between the move and the training sample loses neither, and learns nothing twice', async () => {
  const client = await imap();
  for (let n = 1; n <= 12; n++) {
    await client.append('INBOX', `From: ann@remote.example\r\nSubject: offer ${n}\r\n\r\nCheap pills ${n}\r\n`);
  }
  await client.mailboxOpen('INBOX');
  await client.messageMove('1:12', 'Junk');
  await box.kill();
  const moved = await learned();
  expect(moved.trainings + moved.waiting).toBe(12);
  await box.restart();
  // In the middle of it, wherever that is.
  await vi.waitUntil(async () => (await learned()).trainings > 0, { timeout: 60_000, interval: 5 });
  await box.kill();
  const cut = await learned();
  expect(cut.trainings + cut.waiting).toBe(12);
  expect(cut.junk).toBe(cut.trainings);
  await box.restart();
  await vi.waitUntil(async () => (await learned()).waiting === 0, { timeout: 60_000, interval: 50 });
  expect(await learned()).toEqual({ waiting: 0, junk: 12, trainings: 12, words: 12 });
}, 180_000);
