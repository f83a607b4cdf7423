import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { copyEntries } from '../../mail/store/mailbox/entry-commands.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { type Command, StoreBusy } from '../../mail/store/engine/types.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { testAccount, testStore } from '../support/store.ts';
import { finishAppend } from '../support/finish-append.ts';

const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);

/** Fills INBOX with 512 messages: more than two slices. */
async function fill(imap: StoreBackend, inbox: number): Promise<void> {
  const one = imap.append(0);
  if ('kind' in one) throw new Error(one.kind);
  await one.write(Buffer.from('Subject: x\r\n\r\n'));
  await finishAppend(imap, one, { mailbox: 'INBOX', flags: { bits: 0, keywords: [] }, receivedAt: 1 });
  for (let n = 0; n < 9; n += 1) {
    await imap.copy(inbox, upTo(2 ** n), 'INBOX', false);
  }
}

/** Makes something happen before a slice of a COPY or MOVE is written. */
function beforeSlice(store: MailStore, number: number, happens: () => Promise<unknown>): void {
  const slice = store.writeSlice.bind(store);
  let copies = 0;
  store.writeSlice = async <I, O>(what: Command<I, O>, input: I): Promise<O> => {
    if (what.name === copyEntries.name && ++copies === number) await happens();
    return slice(what, input);
  };
}

test('a COPY that fails in the middle leaves nothing behind', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  await fill(imap, inbox);
  beforeSlice(box.store, 3, () => Promise.reject(new StoreBusy('queue', 'too many writes')));
  await expect(imap.copy(inbox, upTo(512), 'Archive', false)).rejects.toThrow('too many writes');
  expect(await imap.mailbox('Archive')).toMatchObject({ total: 0 });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 512 });
});

test('a MOVE of messages, some of which the target has, keeps the quota and the order of UIDs', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  for (const subject of ['one', 'two', 'three', 'four']) {
    const sink = imap.append(0);
    if ('kind' in sink) throw new Error(sink.kind);
    await sink.write(Buffer.from(`Subject: ${subject}\r\n\r\n`));
    await finishAppend(imap, sink, { mailbox: 'INBOX', flags: { bits: 4, keywords: ['seal'] }, receivedAt: 1 });
  }
  const before = await imap.quota();
  await imap.copy(inbox, [2, 3], 'Archive', false);
  const moved = await imap.copy(inbox, [1, 2, 4], 'Archive', true);
  expect(moved).toMatchObject({ kind: 'done', from: [1, 2, 4], to: [3, 4, 5] });
  const archive = await imap.mailbox('Archive');
  expect(archive).toMatchObject({ total: 5, unseen: 5, uidNext: 6 });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 1, uidNext: 5 });
  // "two" was copied once more: it is two emails now.
  const rows = await imap.rows(archive?.id ?? 0, [1, 2, 3, 4, 5], { structure: true });
  const subjects = rows.map(({ structure }) => /"(\w+)"/.exec(structure?.envelope ?? '')?.[1]);
  expect(subjects).toEqual(['two', 'three', 'one', 'two', 'four']);
  const octets = (rows[3]?.size ?? 0) + before.usedBytes;
  expect(await imap.quota()).toMatchObject({ usedBytes: octets, usedCount: before.usedCount + 1 });
});

test('a MOVE whose store is busy in the middle names what was moved, and each message is in one mailbox', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  await fill(imap, inbox);
  const busy = new StoreBusy('queue', 'too many writes');
  beforeSlice(box.store, 3, () => Promise.reject(busy));
  const moved = await imap.copy(inbox, upTo(512), 'Archive', true);
  expect(moved).toMatchObject({ kind: 'partly', from: upTo(400), to: upTo(400), end: { kind: 'failed', error: busy } });
  expect(await imap.mailbox('Archive')).toMatchObject({ total: 400 });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 112 });
});

test('a MOVE whose store is busy at once moves nothing', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  await fill(imap, inbox);
  beforeSlice(box.store, 1, () => Promise.reject(new StoreBusy('queue', 'too many writes')));
  await expect(imap.copy(inbox, upTo(512), 'Archive', true)).rejects.toThrow('too many writes');
  expect(await imap.mailbox('Archive')).toMatchObject({ total: 0 });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 512 });
});

test('slices that had begun when one failed are moved, and named', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  await fill(imap, inbox);
  const busy = new StoreBusy('queue', 'too many writes');
  beforeSlice(box.store, 2, () => Promise.reject(busy));
  const moved = await imap.copy(inbox, upTo(512), 'Archive', true);
  const from = [...upTo(200), ...upTo(512).slice(400)];
  expect(moved).toMatchObject({ kind: 'partly', from, to: upTo(312), end: { kind: 'failed', error: busy } });
  expect(await imap.mailbox('Archive')).toMatchObject({ total: 312 });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 200 });
});

test('a COPY rolls back the slices that had begun when one failed', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  await fill(imap, inbox);
  beforeSlice(box.store, 2, () => Promise.reject(new StoreBusy('queue', 'too many writes')));
  await expect(imap.copy(inbox, upTo(512), 'Archive', false)).rejects.toThrow('too many writes');
  expect(await imap.mailbox('Archive')).toMatchObject({ total: 0 });
});

test('a MOVE whose target is deleted in the middle keeps the other messages, and names those that were moved', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  await fill(imap, inbox);
  await imap.create('Target');
  beforeSlice(box.store, 2, () => imap.remove('Target'));
  const moved = await imap.copy(inbox, upTo(512), 'Target', true);
  expect(moved).toMatchObject({ kind: 'partly', from: upTo(200), to: upTo(200), end: { kind: 'missing' } });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 312 });
});

test('a MOVE of more messages than one commit takes moves all of them, also when the quota is full', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  await fill(imap, inbox);
  await box.store.write(setQuota, { account, bytes: 1 });
  expect(await imap.copy(inbox, [1], 'Archive', false)).toEqual({ kind: 'over-quota' });
  const moved = await imap.copy(inbox, upTo(512), 'Archive', true);
  expect(moved).toMatchObject({ kind: 'done', from: upTo(512), to: upTo(512) });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 0 });
});
