import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { purgeRemovedAccount } from '../../mail/store/account/account-removal.ts';
import { emailChanges as emailChangesQuery } from '../../mail/store/message/email-changes.ts';
import { threadChanges } from '../../mail/store/message/thread.ts';
import { countThreads, storeThreadCounts } from '../../mail/store/message/thread-counts.ts';
import { purgeDeletedFolder, purgeExpunged, purgeTombstones } from '../../mail/store/retention/purge.ts';
import { imapOf, mailboxRow, putMessage } from '../support/jmap-mail.ts';
import { readExpectedObjects } from '../support/jmap-oracle.ts';
import { type JmapFixture, createJmapFixture } from '../support/jmap-fixture.ts';
import { rowsOf } from '../support/rows.ts';
import { onPostgres } from '../support/test-database.ts';

async function stateOf(fixture: JmapFixture, type = 'Thread'): Promise<unknown> {
  return (await fixture.call(`${type}/get`, { ids: [] }))['state'];
}

const emailChanges = async (fixture: JmapFixture, sinceState: unknown): Promise<Record<string, unknown>> =>
  fixture.call('Email/changes', { sinceState });

/** Doubles a mailbox until it exceeds one deletion slice. */
async function fill(fixture: JmapFixture, name: string, least: number): Promise<number[]> {
  const mailbox = await mailboxRow(fixture, name);
  for (;;) {
    const view = await fixture.box.store.view(fixture.account, mailbox);
    const uids = Array.from(view.uids.subarray(0, view.length));
    view.close();
    if (uids.length >= least) return uids;
    await imapOf(fixture).copy(mailbox, uids, name, false);
  }
}

function openDatabase(fixture: JmapFixture): DatabaseSync {
  return new DatabaseSync(join(fixture.box.dataDir, 'mailstead.db'));
}

test('an email that only changes its mailbox is updated, not destroyed and created', async () => {
  await using fixture = await createJmapFixture();
  const uid = await putMessage(fixture);
  const state = await stateOf(fixture);
  await imapOf(fixture).copy(fixture.inbox, [uid], 'Archive', true);
  expect(await emailChanges(fixture, state)).toMatchObject({
    created: [],
    updated: [expect.any(String)],
    destroyed: [],
  });
});

test('\\Deleted destroys, removing it creates, EXPUNGE reports nothing more', async () => {
  await using fixture = await createJmapFixture();
  const imap = imapOf(fixture);
  const uid = await putMessage(fixture);
  const start = await stateOf(fixture);
  await imap.store(fixture.inbox, [uid], 'add', { bits: 16, keywords: [] });
  const hidden = await emailChanges(fixture, start);
  expect(hidden).toMatchObject({ created: [], updated: [], destroyed: [expect.any(String)] });
  await imap.store(fixture.inbox, [uid], 'remove', { bits: 16, keywords: [] });
  const back = await emailChanges(fixture, hidden['newState']);
  expect(back).toMatchObject({ created: hidden['destroyed'], updated: [], destroyed: [] });
  await imap.store(fixture.inbox, [uid], 'add', { bits: 16, keywords: [] });
  const again = await emailChanges(fixture, back['newState']);
  expect(again).toMatchObject({ destroyed: hidden['destroyed'] });
  await imap.expunge(fixture.inbox, [uid]);
  expect(await emailChanges(fixture, again['newState'])).toMatchObject({
    newState: again['newState'],
    created: [],
    updated: [],
    destroyed: [],
  });
});

test('a message appended with \\Deleted is never reported', async () => {
  await using fixture = await createJmapFixture();
  const state = await stateOf(fixture);
  const uid = await putMessage(fixture, { bits: 16 });
  expect(await emailChanges(fixture, state)).toMatchObject({ created: [], updated: [], destroyed: [] });
  await imapOf(fixture).store(fixture.inbox, [uid], 'remove', { bits: 16, keywords: [] });
  expect(await emailChanges(fixture, state)).toMatchObject({ created: [expect.any(String)], destroyed: [] });
});

test('deletions are reported for 90 days, after which older states are too old', async () => {
  await using fixture = await createJmapFixture();
  const imap = imapOf(fixture);
  const before = await stateOf(fixture);
  const uid = await putMessage(fixture);
  const held = await stateOf(fixture);
  await imap.store(fixture.inbox, [uid], 'add', { bits: 16, keywords: [] });
  await imap.expunge(fixture.inbox, [uid]);
  const end = await stateOf(fixture);
  await fixture.box.store.writeSlice(purgeExpunged, { before: fixture.box.clock.now + 1 });
  expect(await stateOf(fixture)).toBe(end);
  expect(await emailChanges(fixture, held)).toMatchObject({ newState: end, destroyed: [expect.any(String)] });
  const threads = await fixture.call('Thread/changes', { sinceState: held });
  expect(threads).toMatchObject({ newState: end, destroyed: [expect.any(String)] });
  expect(await emailChanges(fixture, before)).toMatchObject({ created: [], destroyed: [] });
  await fixture.box.store.writeSlice(purgeTombstones, { before: fixture.box.clock.now + 1 });
  expect(await stateOf(fixture)).toBe(end);
  expect(await emailChanges(fixture, end)).toMatchObject({ newState: end, destroyed: [] });
  expect(await fixture.refusal('Email/changes', { sinceState: held })).toMatchObject({
    type: 'cannotCalculateChanges',
  });
  expect(await fixture.refusal('Thread/changes', { sinceState: held })).toMatchObject({
    type: 'cannotCalculateChanges',
    description: expect.stringContaining('Fetch all objects again') as string,
  });
});

test('deleting a large mailbox hides its mail at once, and the later slices report nothing', async () => {
  await using fixture = await createJmapFixture();
  const imap = imapOf(fixture);
  await imap.create('big');
  const uid = await putMessage(fixture, { mailbox: 'big' });
  const big = await mailboxRow(fixture, 'big');
  await imap.copy(big, [uid], 'INBOX', false);
  await fill(fixture, 'big', 300);
  const state = await stateOf(fixture);
  const shown = await readExpectedObjects(fixture);
  await imap.remove('big');
  const told = await fixture.call('Email/changes', { sinceState: state, maxChanges: 1_000 });
  expect(told).toMatchObject({ hasMoreChanges: false, created: [], updated: [expect.any(String)] });
  expect((told['destroyed'] as string[]).length).toBe(shown.Email.size - 1);
  // In truncated responses, with deletion slices in between.
  const parts = await fixture.call('Email/changes', { sinceState: state, maxChanges: 100 });
  const destroyed = new Set(parts['destroyed'] as string[]);
  let at = parts;
  while (at['hasMoreChanges'] === true) {
    await fixture.box.store.writeSlice(purgeDeletedFolder, { account: fixture.account, mailbox: big });
    at = await fixture.call('Email/changes', { sinceState: at['newState'], maxChanges: 100 });
    for (const id of at['destroyed'] as string[]) destroyed.add(id);
  }
  expect(destroyed).toEqual(new Set(told['destroyed'] as string[]));
  while ((await fixture.box.store.writeSlice(purgeDeletedFolder, { account: fixture.account, mailbox: big })) > 0);
  expect(await emailChanges(fixture, told['newState'])).toMatchObject({
    newState: told['newState'],
    created: [],
    updated: [],
    destroyed: [],
  });
  const { list } = await fixture.call('Mailbox/get', { ids: null });
  const counted = (await readExpectedObjects(fixture)).Mailbox;
  for (const { id, myRights: _, ...rest } of list as { id: string; myRights: unknown }[]) {
    expect(rest).toEqual(counted.get(id));
  }
});

test('a thread has at most 500 emails, and the next email starts a new one', async () => {
  await using fixture = await createJmapFixture();
  await putMessage(fixture, { id: 'first' });
  await fill(fixture, 'INBOX', 512);
  const sizes = (truth: Awaited<ReturnType<typeof readExpectedObjects>>): number[] =>
    [...truth.Thread.values()].map((one) => (one['emailIds'] as string[]).length);
  const full = await readExpectedObjects(fixture);
  expect(Math.max(...sizes(full))).toBe(500);
  await putMessage(fixture, { id: 'reply', refs: ['first'] });
  await putMessage(fixture, { id: 'reply2', refs: ['reply'] });
  await putMessage(fixture, { id: 'reply3', refs: ['first'] });
  const now = await readExpectedObjects(fixture);
  expect(now.Thread.size).toBe(full.Thread.size + 1);
  expect(sizes(now).at(-1)).toBe(3);
});

// It changes rows in the file of SQLite.
test.skipIf(onPostgres)('pending thread counts are computed, and not while the account changes', async () => {
  await using fixture = await createJmapFixture();
  const { store } = fixture.box;
  await putMessage(fixture, { id: 'a', bits: 1 });
  await putMessage(fixture, { id: 'b', refs: ['a'], mailbox: 'Archive' });
  const counts = async (): Promise<unknown> => {
    const { list } = await fixture.call('Mailbox/get', { properties: ['totalThreads', 'unreadThreads'] });
    return list;
  };
  const right = await counts();
  const db = openDatabase(fixture);
  db.exec('UPDATE mailbox SET threads = NULL, threads_unread = NULL');
  const found = await store.scan(countThreads, { account: fixture.account });
  const uid = await putMessage(fixture, { mailbox: 'Trash' });
  expect(await store.write(storeThreadCounts, { account: fixture.account, found })).toBe('stale');
  await imapOf(fixture).store(await mailboxRow(fixture, 'Trash'), [uid], 'add', { bits: 16, keywords: [] });
  expect(await counts()).toEqual(right);
  db.exec('UPDATE mailbox SET threads = NULL, threads_unread = NULL');
  db.close();
  expect(await store.write(storeThreadCounts, { account: fixture.account, found: null })).toBe('kept');
  expect(await counts()).toEqual(right);
});

test('truncated responses never report an email unknown to the client as updated', async () => {
  await using fixture = await createJmapFixture();
  const start = await stateOf(fixture);
  const uids = [await putMessage(fixture), await putMessage(fixture), await putMessage(fixture)];
  const first = await fixture.call('Email/changes', { sinceState: start, maxChanges: 1 });
  expect(first).toMatchObject({ hasMoreChanges: true, created: [expect.any(String)] });
  // Changes an email reported already, and one not reported yet.
  await imapOf(fixture).store(fixture.inbox, uids.slice(0, 2), 'add', { bits: 1, keywords: [] });
  const rest = await fixture.call('Email/changes', { sinceState: first['newState'] });
  expect(rest).toMatchObject({ hasMoreChanges: false, updated: [], destroyed: [] });
  expect((rest['created'] as string[]).toSorted()).toEqual(
    [...(await readExpectedObjects(fixture)).Email.keys()].toSorted(),
  );
  // Reported as created, and destroyed before the next response.
  await imapOf(fixture).store(fixture.inbox, uids, 'add', { bits: 16, keywords: [] });
  const gone = await fixture.call('Email/changes', { sinceState: first['newState'] });
  expect(gone).toMatchObject({ created: [], updated: [], destroyed: first['created'] });
});

test('a state of the future is refused', async () => {
  await using fixture = await createJmapFixture();
  for (const type of ['Email', 'Thread', 'Mailbox']) {
    expect(await fixture.refusal(`${type}/changes`, { sinceState: 'zzzz' })).toMatchObject({
      type: 'cannotCalculateChanges',
    });
    expect(await fixture.refusal(`${type}/changes`, { sinceState: '1', maxChanges: 0 })).toMatchObject({
      type: 'invalidArguments',
    });
  }
});

test('Thread/get returns emails by time, threads in the order of ids, none of another account', async () => {
  await using fixture = await createJmapFixture();
  const now = fixture.box.clock.now;
  await putMessage(fixture, { id: 'late', receivedAt: now });
  await putMessage(fixture, { id: 'early', refs: ['late'], receivedAt: now - 1000 });
  await putMessage(fixture, { id: 'other', subject: 'Else' });
  const [one = '', two = ''] = [...(await readExpectedObjects(fixture)).Thread.keys()];
  const got = await fixture.call('Thread/get', { ids: [two, 't9999', one, two] });
  expect(got['notFound']).toEqual(['t9999']);
  const list = got['list'] as { id: string; emailIds: string[] }[];
  expect(list.map((thread) => thread.id)).toEqual([two, one]);
  expect(list.map((thread) => thread.emailIds.length).toSorted((a, b) => a - b)).toEqual([1, 2]);
  const both = list.find((thread) => thread.emailIds.length === 2)?.emailIds ?? [];
  expect(both).toEqual(both.toSorted().toReversed());
  expect(await fixture.refusal('Thread/get', { ids: null })).toMatchObject({ type: 'requestTooLarge' });
});

// It changes rows in the file of SQLite.
test.skipIf(onPostgres)('a deleted account leaves no JMAP data', async () => {
  await using fixture = await createJmapFixture();
  const { store } = fixture.box;
  const uid = await putMessage(fixture);
  await imapOf(fixture).store(fixture.inbox, [uid], 'add', { bits: 16, keywords: [] });
  await imapOf(fixture).expunge(fixture.inbox, [uid]);
  await store.writeSlice(purgeExpunged, { before: fixture.box.clock.now + 1 });
  await putMessage(fixture);
  const remembered = async (): Promise<number> => {
    const rows = await rowsOf(store);
    return (rows.get('tombstone')?.length ?? 0) + (rows.get('type_state')?.length ?? 0);
  };
  expect(await remembered()).toBe(1);
  const db = openDatabase(fixture);
  db.prepare(`INSERT INTO type_state (account_id, type) VALUES (?, 'Identity')`).run(fixture.account);
  // Rows that dismissAccount leaves for later.
  db.prepare('UPDATE account SET state = 2 WHERE id = ?').run(fixture.account);
  db.close();
  while ((await store.writeSlice(purgeRemovedAccount, { account: fixture.account })).more);
  expect(await remembered()).toBe(0);
});

// Plans of SQLite.
test.skipIf(onPostgres)('reading changes does not scan rows of other accounts', async () => {
  await using fixture = await createJmapFixture();
  await putMessage(fixture);
  const plans: string[] = [];
  const db = openDatabase(fixture);
  const explain = (sql: string, ...params: never[]): void => {
    plans.push(
      ...db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...params)
        .map((row) => String(row['detail'])),
    );
  };
  const rx = {
    get: (sql: string, ...params: never[]): Promise<never> => {
      explain(sql, ...params);
      return Promise.resolve(db.prepare(sql).get(...params) as never);
    },
    all: (sql: string, ...params: never[]): Promise<never> => {
      explain(sql, ...params);
      return Promise.resolve(db.prepare(sql).all(...params) as never);
    },
  };
  const since = { modseq: 0, row: Number.POSITIVE_INFINITY, origin: 0 };
  await emailChangesQuery.run(rx as never, { account: fixture.account, since, limit: 500 });
  await threadChanges.run(rx as never, { account: fixture.account, since, limit: 500 });
  db.close();
  expect(plans.length).toBeGreaterThan(20);
  // Scans of JSON lists and subquery results are allowed; tables must be searched by index.
  expect(plans.filter((plan) => /^SCAN (?!t\b|\(|json_each)/.test(plan))).toEqual([]);
});
