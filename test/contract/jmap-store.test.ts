import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyGoneAccount } from '../../mail/store/account-removal.ts';
import { emailChanges as emailChangesQuery } from '../../mail/store/email-changes.ts';
import { threadChanges } from '../../mail/store/thread.ts';
import { countThreads, keepThreadCounts } from '../../mail/store/thread-counts.ts';
import { emptyGoneMailbox, forgetExpunged, forgetTombstones } from '../../mail/store/tidy.ts';
import { imapOf, mailboxRow, putMessage } from '../support/jmap-mail.ts';
import { truthOf } from '../support/jmap-truth.ts';
import { type JmapWorld, jmapWorld } from '../support/jmap-world.ts';
import { rowsOf } from '../support/rows.ts';

async function stateOf(world: JmapWorld, type = 'Thread'): Promise<unknown> {
  return (await world.call(`${type}/get`, { ids: [] }))['state'];
}

const emailChanges = async (world: JmapWorld, sinceState: unknown): Promise<Record<string, unknown>> =>
  world.call('Email/changes', { sinceState });

/** Doubles what is in a mailbox until it is more than leaves at once. */
async function fill(world: JmapWorld, name: string, least: number): Promise<number[]> {
  const mailbox = await mailboxRow(world, name);
  for (;;) {
    const view = world.box.store.view(world.account, mailbox);
    const uids = Array.from(view.uids.subarray(0, view.length));
    view.close();
    if (uids.length >= least) return uids;
    await imapOf(world).copy(mailbox, uids, name, false);
  }
}

function openDatabase(world: JmapWorld): DatabaseSync {
  return new DatabaseSync(join(world.box.dataDir, 'mailstead.db'));
}

test('an email that only changes its mailbox is updated, not hidden and shown', async () => {
  await using world = await jmapWorld();
  const uid = await putMessage(world);
  const state = await stateOf(world);
  await imapOf(world).copy(world.inbox, [uid], 'Archive', true);
  expect(await emailChanges(world, state)).toMatchObject({ created: [], updated: [expect.any(String)], destroyed: [] });
});

test('\\Deleted destroys, taking it away creates, EXPUNGE says nothing more', async () => {
  await using world = await jmapWorld();
  const imap = imapOf(world);
  const uid = await putMessage(world);
  const start = await stateOf(world);
  await imap.store(world.inbox, [uid], 'add', { bits: 16, keywords: [] });
  const hidden = await emailChanges(world, start);
  expect(hidden).toMatchObject({ created: [], updated: [], destroyed: [expect.any(String)] });
  await imap.store(world.inbox, [uid], 'remove', { bits: 16, keywords: [] });
  const back = await emailChanges(world, hidden['newState']);
  expect(back).toMatchObject({ created: hidden['destroyed'], updated: [], destroyed: [] });
  await imap.store(world.inbox, [uid], 'add', { bits: 16, keywords: [] });
  const again = await emailChanges(world, back['newState']);
  expect(again).toMatchObject({ destroyed: hidden['destroyed'] });
  await imap.expunge(world.inbox, [uid]);
  expect(await emailChanges(world, again['newState'])).toMatchObject({
    newState: again['newState'],
    created: [],
    updated: [],
    destroyed: [],
  });
});

test('what came with \\Deleted was never there', async () => {
  await using world = await jmapWorld();
  const state = await stateOf(world);
  const uid = await putMessage(world, { bits: 16 });
  expect(await emailChanges(world, state)).toMatchObject({ created: [], updated: [], destroyed: [] });
  await imapOf(world).store(world.inbox, [uid], 'remove', { bits: 16, keywords: [] });
  expect(await emailChanges(world, state)).toMatchObject({ created: [expect.any(String)], destroyed: [] });
});

test('what is forgotten is told for 90 days, and then states from before are not understood', async () => {
  await using world = await jmapWorld();
  const imap = imapOf(world);
  const before = await stateOf(world);
  const uid = await putMessage(world);
  const held = await stateOf(world);
  await imap.store(world.inbox, [uid], 'add', { bits: 16, keywords: [] });
  await imap.expunge(world.inbox, [uid]);
  const end = await stateOf(world);
  await world.box.store.writeSlice(forgetExpunged, { before: world.box.clock.now + 1 });
  expect(await stateOf(world)).toBe(end);
  expect(await emailChanges(world, held)).toMatchObject({ newState: end, destroyed: [expect.any(String)] });
  const threads = await world.call('Thread/changes', { sinceState: held });
  expect(threads).toMatchObject({ newState: end, destroyed: [expect.any(String)] });
  expect(await emailChanges(world, before)).toMatchObject({ created: [], destroyed: [] });
  await world.box.store.writeSlice(forgetTombstones, { before: world.box.clock.now + 1 });
  expect(await stateOf(world)).toBe(end);
  expect(await emailChanges(world, end)).toMatchObject({ newState: end, destroyed: [] });
  expect(await world.refusal('Email/changes', { sinceState: held })).toMatchObject({ type: 'cannotCalculateChanges' });
  expect(await world.refusal('Thread/changes', { sinceState: held })).toMatchObject({
    type: 'cannotCalculateChanges',
    description: expect.stringContaining('fetch everything again') as string,
  });
});

test('a large mailbox that is removed hides its mail at once, and its slices say nothing more', async () => {
  await using world = await jmapWorld();
  const imap = imapOf(world);
  await imap.create('big');
  const uid = await putMessage(world, { mailbox: 'big' });
  const big = await mailboxRow(world, 'big');
  await imap.copy(big, [uid], 'INBOX', false);
  await fill(world, 'big', 300);
  const state = await stateOf(world);
  const shown = await truthOf(world);
  await imap.remove('big');
  const told = await world.call('Email/changes', { sinceState: state, maxChanges: 1_000 });
  expect(told).toMatchObject({ hasMoreChanges: false, created: [], updated: [expect.any(String)] });
  expect((told['destroyed'] as string[]).length).toBe(shown.Email.size - 1);
  // In parts, with the slices in between.
  const parts = await world.call('Email/changes', { sinceState: state, maxChanges: 100 });
  const destroyed = new Set(parts['destroyed'] as string[]);
  let at = parts;
  while (at['hasMoreChanges'] === true) {
    await world.box.store.writeSlice(emptyGoneMailbox, { account: world.account, mailbox: big });
    at = await world.call('Email/changes', { sinceState: at['newState'], maxChanges: 100 });
    for (const id of at['destroyed'] as string[]) destroyed.add(id);
  }
  expect(destroyed).toEqual(new Set(told['destroyed'] as string[]));
  while ((await world.box.store.writeSlice(emptyGoneMailbox, { account: world.account, mailbox: big })) > 0);
  expect(await emailChanges(world, told['newState'])).toMatchObject({
    newState: told['newState'],
    created: [],
    updated: [],
    destroyed: [],
  });
  const { list } = await world.call('Mailbox/get', { ids: null });
  const counted = (await truthOf(world)).Mailbox;
  for (const { id, myRights: _, ...rest } of list as { id: string; myRights: unknown }[]) {
    expect(rest).toEqual(counted.get(id));
  }
});

test('a thread takes 500 emails, and the next one goes on where it ended', async () => {
  await using world = await jmapWorld();
  await putMessage(world, { id: 'first' });
  await fill(world, 'INBOX', 512);
  const sizes = (truth: Awaited<ReturnType<typeof truthOf>>): number[] =>
    [...truth.Thread.values()].map((one) => (one['emailIds'] as string[]).length);
  const full = await truthOf(world);
  expect(Math.max(...sizes(full))).toBe(500);
  await putMessage(world, { id: 'reply', refs: ['first'] });
  await putMessage(world, { id: 'reply2', refs: ['reply'] });
  await putMessage(world, { id: 'reply3', refs: ['first'] });
  const now = await truthOf(world);
  expect(now.Thread.size).toBe(full.Thread.size + 1);
  expect(sizes(now).at(-1)).toBe(3);
});

test('threads are counted where nobody has yet, and not while the account changes', async () => {
  await using world = await jmapWorld();
  const { store } = world.box;
  await putMessage(world, { id: 'a', bits: 1 });
  await putMessage(world, { id: 'b', refs: ['a'], mailbox: 'Archive' });
  const counts = async (): Promise<unknown> => {
    const { list } = await world.call('Mailbox/get', { properties: ['totalThreads', 'unreadThreads'] });
    return list;
  };
  const right = await counts();
  const db = openDatabase(world);
  db.exec('UPDATE mailbox SET threads = NULL, threads_unread = NULL');
  const found = await store.scan(countThreads, { account: world.account });
  const uid = await putMessage(world, { mailbox: 'Trash' });
  expect(await store.write(keepThreadCounts, { account: world.account, found })).toBe('stale');
  await imapOf(world).store(await mailboxRow(world, 'Trash'), [uid], 'add', { bits: 16, keywords: [] });
  expect(await counts()).toEqual(right);
  db.exec('UPDATE mailbox SET threads = NULL, threads_unread = NULL');
  db.close();
  expect(await store.write(keepThreadCounts, { account: world.account, found: null })).toBe('kept');
  expect(await counts()).toEqual(right);
});

test('parts of an answer never tell a client of what it does not know as updated', async () => {
  await using world = await jmapWorld();
  const start = await stateOf(world);
  const uids = [await putMessage(world), await putMessage(world), await putMessage(world)];
  const first = await world.call('Email/changes', { sinceState: start, maxChanges: 1 });
  expect(first).toMatchObject({ hasMoreChanges: true, created: [expect.any(String)] });
  // Told already, changed behind the cut; and one not told yet, changed too.
  await imapOf(world).store(world.inbox, uids.slice(0, 2), 'add', { bits: 1, keywords: [] });
  const rest = await world.call('Email/changes', { sinceState: first['newState'] });
  expect(rest).toMatchObject({ hasMoreChanges: false, updated: [], destroyed: [] });
  expect((rest['created'] as string[]).toSorted()).toEqual([...(await truthOf(world)).Email.keys()].toSorted());
  // Told as created, and gone before the next part.
  await imapOf(world).store(world.inbox, uids, 'add', { bits: 16, keywords: [] });
  const gone = await world.call('Email/changes', { sinceState: first['newState'] });
  expect(gone).toMatchObject({ created: [], updated: [], destroyed: first['created'] });
});

test('a state of the future is none', async () => {
  await using world = await jmapWorld();
  for (const type of ['Email', 'Thread', 'Mailbox']) {
    expect(await world.refusal(`${type}/changes`, { sinceState: 'zzzz' })).toMatchObject({
      type: 'cannotCalculateChanges',
    });
    expect(await world.refusal(`${type}/changes`, { sinceState: '1', maxChanges: 0 })).toMatchObject({
      type: 'invalidArguments',
    });
  }
});

test('Thread/get answers emails by time, in the order of the ids, and nothing of another account', async () => {
  await using world = await jmapWorld();
  const now = world.box.clock.now;
  await putMessage(world, { id: 'late', receivedAt: now });
  await putMessage(world, { id: 'early', refs: ['late'], receivedAt: now - 1000 });
  await putMessage(world, { id: 'other', subject: 'Else' });
  const [one = '', two = ''] = [...(await truthOf(world)).Thread.keys()];
  const got = await world.call('Thread/get', { ids: [two, 't9999', one, two] });
  expect(got['notFound']).toEqual(['t9999']);
  const list = got['list'] as { id: string; emailIds: string[] }[];
  expect(list.map((thread) => thread.id)).toEqual([two, one]);
  expect(list.map((thread) => thread.emailIds.length).toSorted((a, b) => a - b)).toEqual([1, 2]);
  const both = list.find((thread) => thread.emailIds.length === 2)?.emailIds ?? [];
  expect(both).toEqual(both.toSorted().toReversed());
  expect(await world.refusal('Thread/get', { ids: null })).toMatchObject({ type: 'requestTooLarge' });
});

test('a removed account leaves nothing of what JMAP remembers', async () => {
  await using world = await jmapWorld();
  const { store } = world.box;
  const uid = await putMessage(world);
  await imapOf(world).store(world.inbox, [uid], 'add', { bits: 16, keywords: [] });
  await imapOf(world).expunge(world.inbox, [uid]);
  await store.writeSlice(forgetExpunged, { before: world.box.clock.now + 1 });
  await putMessage(world);
  const remembered = async (): Promise<number> => {
    const rows = await rowsOf(store);
    return (rows.get('tombstone')?.length ?? 0) + (rows.get('type_state')?.length ?? 0);
  };
  expect(await remembered()).toBe(1);
  const db = openDatabase(world);
  db.prepare(`INSERT INTO type_state (account_id, type) VALUES (?, 'Identity')`).run(world.account);
  // What dismissAccount leaves behind.
  db.prepare('UPDATE account SET state = 2 WHERE id = ?').run(world.account);
  db.close();
  while ((await store.writeSlice(emptyGoneAccount, { account: world.account })).more);
  expect(await remembered()).toBe(0);
});

test('a look at what changed reads nothing of other accounts', async () => {
  await using world = await jmapWorld();
  await putMessage(world);
  const plans: string[] = [];
  const db = openDatabase(world);
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
  await emailChangesQuery.run(rx as never, { account: world.account, since, limit: 500 });
  await threadChanges.run(rx as never, { account: world.account, since, limit: 500 });
  db.close();
  expect(plans.length).toBeGreaterThan(20);
  // Values of a list and what was found before may be walked; tables are searched.
  expect(plans.filter((plan) => /^SCAN (?!t\b|\(|json_each)/.test(plan))).toEqual([]);
});
