import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { TextIndex } from '../../mail/store/search/text-index.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

let box: TestStore;
let account: number;
let index: TextIndex;
let path: string;

beforeEach(async () => {
  box = await testStore();
  ({ account } = await testAccount(box.store));
  path = join(box.dataDir, 'text.db');
  index = new TextIndex({ path, database: join(box.dataDir, 'mailstead.db'), blobs: box.store.files.directory }, quiet);
});

afterEach(async () => {
  index.close();
  await box[Symbol.asyncDispose]();
});

/** Each message is a commit of the index, and so a segment. */
async function indexOneByOne(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await deliverMail(box.store, { account, to: 'me@box.test' }, `From: a@a.example\nSubject: x\n\nquince pear${n}\n`);
    while (index.step() > 0);
  }
}

function ask(sql: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const row = db.prepare(sql).get();
  db.close();
  return Number(row?.['n']);
}

const segments = (): number => ask('SELECT count(DISTINCT segid) AS n FROM message_text_idx');
const found = (): number => ask(`SELECT count(*) AS n FROM message_text WHERE message_text MATCH 'quince'`);

test('segments of many commits are merged, and every message is found', async () => {
  while (index.merge());
  await indexOneByOne(12);
  expect(segments()).toBe(12);
  while (index.merge());
  expect(segments()).toBeLessThan(4);
  expect(found()).toBe(12);
});

test('segments of few commits stay, which are not worth writing again', async () => {
  while (index.merge());
  await indexOneByOne(5);
  expect(index.merge()).toBe(false);
  expect(segments()).toBe(5);
});

test('segments of an earlier run are merged', async () => {
  await indexOneByOne(6);
  while (index.merge());
  expect(segments()).toBeLessThan(4);
  expect(found()).toBe(6);
});
