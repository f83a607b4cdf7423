import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { copyEntries } from '../../mail/store/mailbox/entry-commands.ts';
import { type Command, StoreBusy } from '../../mail/store/engine/types.ts';
import { testAccount, testStore } from '../support/store.ts';
import { finishAppend } from '../support/finish-append.ts';

test('a COPY that fails in the middle leaves nothing behind', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  const one = imap.append(0);
  if ('kind' in one) throw new Error(one.kind);
  await one.write(Buffer.from('Subject: x\r\n\r\n'));
  await finishAppend(imap, one, { mailbox: 'INBOX', flags: { bits: 0, keywords: [] }, receivedAt: 1 });
  for (let n = 0; n < 9; n += 1) {
    const uids = Array.from({ length: 2 ** n }, (_, i) => i + 1);
    await imap.copy(inbox, uids, 'INBOX', false);
  }
  const { store } = box;
  const slice = store.writeSlice.bind(store);
  let copies = 0;
  store.writeSlice = <I, O>(what: Command<I, O>, input: I): Promise<O> => {
    const busy = what.name === copyEntries.name && ++copies === 3;
    return busy ? Promise.reject(new StoreBusy('queue', 'too many writes')) : slice(what, input);
  };
  const all = Array.from({ length: 512 }, (_, i) => i + 1);
  await expect(imap.copy(inbox, all, 'Archive', false)).rejects.toThrow('too many writes');
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
