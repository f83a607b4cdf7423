import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jmapId } from '../../mail/jmap/core/ids.ts';
import { readEmailFacts } from '../../mail/jmap/email-query/email-facts.ts';
import { openQueryContext } from '../../mail/jmap/email-query/query-context.ts';
import { TextMatcher } from '../../mail/jmap/email-query/text-matcher.ts';
import { quiet } from '../../mail/log.ts';
import { removeAccount, purgeRemovedAccount } from '../../mail/store/account/account-removal.ts';
import { blobPath } from '../../mail/store/blob/blob.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { TextIndex, type TextIndexPaths } from '../../mail/store/search/text-index.ts';
import { TextWorker } from '../../mail/store/search/text-worker.ts';
import { purgeExpunged } from '../../mail/store/retention/purge.ts';
import { purgeMessages } from '../../mail/store/retention/purge-messages.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { Garden, type Spec } from '../support/mail-garden.ts';
import { upload } from '../support/jmap-emails.ts';
import { type JmapFixture, createJmapFixture } from '../support/jmap-fixture.ts';

const SPEC: Spec = { subject: 's', from: 'a@box.test', to: 'b@box.test', body: 'b', sentAt: 1e12, receivedAt: 1e12 };

const textFile = (world: JmapFixture): string => join(world.box.dataDir, 'mailstead-text.db');

function placeOf(world: JmapFixture): TextIndexPaths {
  const { dataDir, store } = world.box;
  return { path: textFile(world), database: join(dataDir, 'mailstead.db'), blobs: store.files.directory };
}

async function finds(world: JmapFixture, text: string): Promise<number> {
  const { ids } = await world.call('Email/query', { filter: { text } });
  return (ids as string[]).length;
}

async function planted(world: JmapFixture, ...words: string[]): Promise<Garden> {
  const garden = await Garden.plant(world);
  for (const [i, body] of words.entries()) await garden.append({ ...SPEC, body, receivedAt: 1e12 + i }, world.inbox);
  return garden;
}

/** Closes the store, does something to its files, opens it again. */
async function between(world: JmapFixture, act: () => void): Promise<void> {
  await world.box.store[Symbol.asyncDispose]();
  act();
  // Closing what is closed is no harm to the test store.
  world.box.store = { [Symbol.asyncDispose]: () => Promise.resolve() } as typeof world.box.store;
  Object.assign(world.context, { store: await world.box.reopen() });
}

describe('the full-text file', () => {
  test.each([
    ['is missing', (world: JmapFixture) => rm(world)],
    ['is no database', (world: JmapFixture) => writeFileSync(textFile(world), 'x'.repeat(9000))],
    ['is empty', (world: JmapFixture) => (rm(world), writeFileSync(textFile(world), ''))],
    ['has pages that make no sense', (world: JmapFixture) => spoil(world)],
    ['is of another database', (world: JmapFixture) => change(world, 'UPDATE origin SET born = born + 1')],
    ['is of another version', (world: JmapFixture) => change(world, 'PRAGMA user_version = 99')],
    ['is ahead of the mail', (world: JmapFixture) => change(world, 'UPDATE progress SET upto = upto + 5')],
    ['knows another message under the number', (world: JmapFixture) => change(world, 'UPDATE progress SET mark = 7')],
  ])('that %s is made anew', async (_what, act) => {
    await using world = await createJmapFixture();
    await planted(world, 'apple', 'pear');
    expect(await finds(world, 'apple')).toBe(1);
    await between(world, () => act(world));
    // A search that meets an unreadable page in the middle fails, and its client has to retry.
    const first = await finds(world, 'pear').catch(() => 'later');
    expect([1, 'later']).toContain(first);
    await expect.poll(() => finds(world, 'pear').catch(() => 'later')).toBe(1);
    expect(await finds(world, 'apple')).toBe(1);
  });

  test('lasts: nothing is indexed twice', async () => {
    await using world = await createJmapFixture();
    await planted(world, 'apple');
    expect(await finds(world, 'apple')).toBe(1);
    await between(world, () => change(world, 'DELETE FROM message_text'));
    expect(await finds(world, 'apple')).toBe(0);
  });
});

function rm(world: JmapFixture): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${textFile(world)}${suffix}`, { force: true });
}

function spoil(world: JmapFixture): void {
  change(world, "UPDATE message_text_data SET block = x'ffffffff' WHERE id > 10");
}

function change(world: JmapFixture, sql: string): void {
  const db = new DatabaseSync(textFile(world), { defensive: false });
  db.exec(sql);
  db.close();
}

test('who cannot be answered in time is informed how far the index is', async () => {
  await using world = await createJmapFixture();
  await planted(world, ...Array.from({ length: 120 }, () => 'apple'));
  const worker = new TextWorker(placeOf(world), quiet, quiet);
  const nothing = query('nothing', () => Promise.resolve(1));
  const queried = { account: world.account, patienceMs: -1 };
  expect(await worker.search(nothing, undefined, queried)).toEqual({ kind: 'behind', indexed: 0, total: 120 });
  world.box.store.text.search = () => Promise.resolve({ kind: 'behind', indexed: 50, total: 120 });
  expect(await world.refusal('Email/query', { filter: { text: 'apple' } })).toMatchObject({
    type: 'serverUnavailable',
    description: expect.stringContaining('50 of about 120 messages') as string,
  });
  await worker.close();
});

test('how far the index is behind is measured, and how long it takes', async () => {
  await using world = await createJmapFixture();
  await planted(world, ...Array.from({ length: 120 }, () => 'apple'));
  const told: Record<string, number[]> = {};
  const tell = (name: string, value: number): void => void (told[name] ??= []).push(value);
  const worker = new TextWorker(placeOf(world), quiet, { ...quiet, gauge: tell, observe: tell });
  await worker.wake(false);
  const [first = 0, ...later] = told['text_backlog_messages'] ?? [];
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(120);
  expect(later.at(-1)).toBe(0);
  expect(told['text_batch_seconds']?.length).toBeGreaterThan(1);
  await worker.close();
});

test.each([
  ['in the first transaction', ''],
  ['after a commit, in the next transaction', 'index.query({ run: () => Promise.resolve() }, undefined, 1);'],
])(
  'a kill %s loses nothing, and nothing is there twice',
  async (_when, between) => {
    await using world = await createJmapFixture();
    await planted(world, ...Array.from({ length: 130 }, (_, i) => `apple n${i}`));
    const index = new URL('../../mail/store/search/text-index.ts', import.meta.url).href;
    const program = `import { TextIndex } from ${JSON.stringify(index)};
    const index = new TextIndex(${JSON.stringify(placeOf(world))}, { info() {} });
    index.step();
    ${between}
    index.step();
    console.log('a batch');
    setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await finds(world, 'apple')).toBe(130);
    expect(await finds(world, 'n129')).toBe(1);
    const db = new DatabaseSync(textFile(world), { readOnly: true });
    expect(db.prepare('SELECT count(*) AS n FROM message_text_docsize').get()).toEqual({ n: 130 });
    db.close();
  },
  60_000,
);

const dismiss = command('test-dismiss', (tx, input: { tenant: number; account: number }) => removeAccount(tx, input));

test('what is forgotten leaves the index, and so does an account', async () => {
  const parts = mailParts();
  await using world = await createJmapFixture({ ...parts, commands: [...parts.commands, dismiss] });
  const garden = await planted(world, 'quince', 'pear', 'plum');
  expect(await finds(world, 'quince')).toBe(1);
  const rows = (sql: string): number => {
    const db = new DatabaseSync(textFile(world), { readOnly: true });
    const { n } = db.prepare(sql).get() as { n: number };
    db.close();
    return n;
  };
  const { store } = world.box;
  const worker = new TextWorker(placeOf(world), quiet, quiet);
  await garden.flag(world.inbox, 0, 'add', ['\\deleted']);
  await garden.expunge(world.inbox);
  await worker.sweep(0);
  expect(rows('SELECT count(*) AS n FROM message_text_docsize')).toBe(3);
  await store.write(purgeExpunged, { before: Number.MAX_SAFE_INTEGER });
  await worker.sweep(0);
  expect(rows('SELECT count(*) AS n FROM message_text_docsize')).toBe(2);
  expect(rows(`SELECT count(*) AS n FROM message_text WHERE message_text MATCH 'quince'`)).toBe(0);
  // Its words are in no segment and no free page of the file.
  const file = readFileSync(textFile(world)).toString('latin1');
  expect([file.includes('quince'), file.includes('pear')]).toEqual([false, true]);
  await store.write(dismiss, { tenant: 1, account: world.account });
  while ((await store.write(purgeRemovedAccount, { account: world.account })).more);
  await worker.sweep(0);
  expect(rows('SELECT count(*) AS n FROM message_text_docsize')).toBe(0);
  expect(rows('SELECT count(*) AS n FROM progress')).toBe(0);
  await worker.close();
});

const ALL = { before: Number.MAX_SAFE_INTEGER };

/**
 * Indexes messages, and deletes the first for good. It is less than a tenth of them, as FTS5 merges a segment at once of
 * which a tenth is deleted. Its word is the first with its letter: others are stored without what they share.
 */
async function expunged(world: JmapFixture): Promise<Garden> {
  const garden = await planted(world, 'quince', ...Array.from({ length: 12 }, () => 'pear'));
  expect(await finds(world, 'quince')).toBe(1);
  await garden.flag(world.inbox, 0, 'add', ['\\deleted']);
  await garden.expunge(world.inbox);
  return garden;
}

/** Words that the file has, anywhere. */
function wordsIn(world: JmapFixture): string[] {
  const file = readFileSync(textFile(world)).toString('latin1');
  return ['quince', 'pear'].filter((word) => file.includes(word));
}

test('the words of a message leave the index soon after its purge, not an hour after the start', async () => {
  await using world = await createJmapFixture('writer thread');
  await expunged(world);
  expect(wordsIn(world)).toEqual(['quince', 'pear']);
  await purgeMessages(world.box.store, purgeExpunged, ALL);
  await expect.poll(() => wordsIn(world), { timeout: 150_000 }).toEqual(['pear']);
}, 180_000);

test('the words of a message that was purged right before a stop leave the index after the start', async () => {
  await using world = await createJmapFixture('writer thread');
  await expunged(world);
  await world.box.store.write(purgeExpunged, ALL);
  await between(world, () => expect(wordsIn(world)).toEqual(['quince', 'pear']));
  await expect.poll(() => wordsIn(world), { timeout: 150_000 }).toEqual(['pear']);
}, 180_000);

test('words whose removal was cut off are overwritten by the next sweep', async () => {
  await using world = await createJmapFixture();
  await expunged(world);
  await world.box.store.write(purgeExpunged, ALL);
  const index = new TextIndex(placeOf(world), quiet);
  expect(index.sweep()).toBe(true);
  index.close();
  expect(wordsIn(world)).toEqual(['quince', 'pear']);
  const worker = new TextWorker(placeOf(world), quiet, quiet);
  await worker.sweep(0);
  await worker.close();
  expect(wordsIn(world)).toEqual(['pear']);
});

test('words of removed messages leave a large index in slices, once they are a day old', async () => {
  await using world = await createJmapFixture();
  await expunged(world);
  await world.box.store.write(purgeExpunged, ALL);
  const index = new TextIndex(placeOf(world), quiet, { maxRewritten: 0 });
  const sweepAll = (): number => {
    let steps = 1;
    while (index.sweep()) steps++;
    return steps;
  };
  const first = sweepAll();
  expect(wordsIn(world)).toEqual(['quince', 'pear']);
  change(world, 'UPDATE removed_words SET at = at - 86400000');
  expect(sweepAll()).toBeGreaterThan(first);
  expect(wordsIn(world)).toEqual(['pear']);
  // Nothing is left to do, and nothing else was removed.
  expect(sweepAll()).toBe(first);
  index.close();
  expect(await finds(world, 'pear')).toBe(12);
});

test('a file of an earlier version, which may have words of removed messages, is overwritten once', async () => {
  await using world = await createJmapFixture();
  await expunged(world);
  await world.box.store.write(purgeExpunged, ALL);
  const index = new TextIndex(placeOf(world), quiet);
  index.sweep();
  index.close();
  change(world, 'DROP TABLE removed_words');
  const worker = new TextWorker(placeOf(world), quiet, quiet);
  await worker.sweep(0);
  await worker.close();
  expect(wordsIn(world)).toEqual(['pear']);
});

test('a sweep that is asked for while mail is indexed follows, and mail that comes during a sweep is indexed', async () => {
  await using world = await createJmapFixture();
  const garden = await expunged(world);
  await world.box.store.write(purgeExpunged, ALL);
  await garden.append({ ...SPEC, body: 'plum' }, world.inbox);
  const backlogs: number[] = [];
  const gauge = (_name: string, value: number): void => void backlogs.push(value);
  const worker = new TextWorker(placeOf(world), quiet, { ...quiet, gauge });
  const [first, sweep] = [worker.wake(false), worker.wake(true)];
  await garden.append({ ...SPEC, body: 'cherry' }, world.inbox);
  expect(await Promise.all([first, sweep, worker.wake(false)])).toEqual([true, true, true]);
  expect(wordsIn(world)).toEqual(['pear']);
  expect(backlogs.at(-1)).toBe(0);
  await worker.close();
});

test.each([
  ['a file that is none', (path: string) => (rmSync(path), mkdirSync(path))],
  ['a file that is gone', (path: string) => rmSync(path)],
  ['a part table that is damaged', (_path: string, db: DatabaseSync) => damageParts(db)],
])('a message with %s keeps no other from being found', async (_what, harm) => {
  await using world = await createJmapFixture();
  const blobId = await upload(world, `Subject: first\r\n\r\n${'pear\r\n'.repeat(20_000)}`);
  await world.call('Email/import', {
    emails: { k: { blobId, mailboxIds: { [jmapId('mailbox', world.inbox)]: true } } },
  });
  await planted(world, 'later');
  const db = new DatabaseSync(join(world.box.dataDir, 'mailstead.db'));
  const { file } = db
    .prepare('SELECT file FROM blob b JOIN email e ON e.blob_id = b.id WHERE file IS NOT NULL')
    .get() as { file: string };
  harm(blobPath(world.box.store.files.directory, file), db);
  db.close();
  expect(await finds(world, 'later')).toBe(1);
  expect(await finds(world, 'pear')).toBe(0);
});

function damageParts(db: DatabaseSync): void {
  db.exec(`UPDATE message_index SET parts = '[' WHERE blob_id = (SELECT min(blob_id) FROM message_index)`);
}

test.each([
  ['few', { rare: 100, widest: 16 }, true],
  ['many, among neighbours', { rare: 3, widest: 16 }, false],
  ['many, far from each other', { rare: 3, widest: 0 }, false],
])('words are found whether they are in %s', async (_what, limits, few) => {
  await using world = await createJmapFixture();
  const garden = await planted(world, ...Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 'pear' : 'apple')));
  const { account } = world;
  const look = query('look', async (rx, input: { account: number; blobs: string }) => {
    const scene = await openQueryContext(rx, input);
    const test = new TextMatcher(scene, [{ columns: ['body'], terms: [{ words: ['pear'], prefix: false }] }], limits);
    expect((await test.rare()) !== undefined).toBe(few);
    const all = await readEmailFacts(
      { rx, account, within: undefined },
      (await garden.all()).map(({ row }) => row),
    );
    const found: number[] = [];
    for (const page of [all.slice(0, 7), all.slice(7, 40), all.slice(40)]) {
      for (const { id } of page.filter(await test.matching(page))) found.push(id);
    }
    return found;
  });
  const searched = await world.box.store.text.search(look, { account, blobs: '' }, { account, patienceMs: 10_000 });
  const pears = (await garden.all()).filter(({ spec }) => spec.body === 'pear');
  expect(searched).toEqual({ kind: 'found', value: pears.map(({ row }) => row) });
});

test('text threads of their own do the same', async () => {
  await using world = await createJmapFixture('writer thread');
  const garden = await planted(world, 'apple', 'pear');
  expect(await finds(world, 'apple')).toBe(1);
  const { list } = await world.call('SearchSnippet/get', {
    filter: { text: 'pear' },
    emailIds: (await garden.all()).map(({ id }) => id),
  });
  expect(list).toMatchObject([{ preview: null }, { preview: '<mark>pear</mark>' }]);
}, 180_000);
