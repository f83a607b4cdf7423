import { expect, test } from 'vitest';
import { DELETED, SEEN } from '../../../mail/imap/imap-store.ts';
import type { MailboxView } from '../../../mail/imap/imap-store.ts';
import { SelectedView } from '../../../mail/imap/selected-view.ts';
import { ImapSyntaxError } from '../../../mail/imap/wire/syntax-error.ts';
import { FakeImapStore } from '../../support/fake-imap-store.ts';

const FLAG = { keywords: [] };

async function inbox(messages: number): Promise<{ store: FakeImapStore; shared: MailboxView; view: SelectedView }> {
  const store = new FakeImapStore();
  for (let n = 0; n < messages; n += 1) store.deliver('INBOX', 'A: b\n\nc\n');
  const shared = await store.open(1);
  return { store, shared, view: new SelectedView(shared, { readOnly: false }) };
}

async function expunge(store: FakeImapStore, uids: number[]): Promise<void> {
  await store.store(1, uids, 'add', { ...FLAG, bits: DELETED });
  await store.expunge(1, uids);
}

test('nothing happened: nothing is said', async () => {
  const { view } = await inbox(3);
  expect([view.isStale, view.takeUpdates('all')]).toEqual([false, '']);
});

test('arrivals are one EXISTS', async () => {
  const { store, view } = await inbox(1);
  for (let n = 0; n < 200; n += 1) store.deliver('INBOX', 'A: b\n\n', ['\\Seen']);
  expect(view.isStale).toBe(true);
  expect(view.takeUpdates('no-expunge')).toBe('* 201 EXISTS\r\n');
  expect(view.takeUpdates('all')).toBe('');
});

test('an array that grew is no expunge', async () => {
  const { store, shared, view } = await inbox(64);
  const before = shared.uids;
  store.deliver('INBOX', 'A: b\n\n');
  expect(shared.uids).not.toBe(before);
  expect(view.takeUpdates('no-expunge')).toBe('* 65 EXISTS\r\n');
});

test('expunges wait, numbers stay, and arrivals wait with them', async () => {
  const { store, view } = await inbox(5);
  await expunge(store, [2, 4]);
  store.deliver('INBOX', 'A: b\n\n');
  expect(view.takeUpdates('no-expunge')).toBe('');
  expect([view.sequenceOf(2), view.sequenceOf(5), view.sequenceOf(6), view.length]).toEqual([2, 5, 0, 5]);
  expect(view.takeUpdates('all')).toBe('* 4 EXPUNGE\r\n* 2 EXPUNGE\r\n* 4 EXISTS\r\n');
  expect([view.sequenceOf(2), view.sequenceOf(5), view.sequenceOf(6), view.length]).toEqual([0, 3, 4, 4]);
});

test('a message that came and went between two looks is never reported', async () => {
  const { store, view } = await inbox(1);
  store.deliver('INBOX', 'A: b\n\n');
  store.deliver('INBOX', 'A: b\n\n');
  await expunge(store, [2]);
  expect(view.takeUpdates('all')).toBe('* 2 EXISTS\r\n');
  expect([view.sequenceOf(3), view.length]).toEqual([2, 2]);
});

test('all gone, then new ones', async () => {
  const { store, view } = await inbox(2);
  await expunge(store, [1, 2]);
  store.deliver('INBOX', 'A: b\n\n');
  expect(view.takeUpdates('all')).toBe('* 2 EXPUNGE\r\n* 1 EXPUNGE\r\n* 1 EXISTS\r\n');
});

test('flags are reported under the number that the client knows, also while an expunge waits', async () => {
  const { store, view } = await inbox(3);
  await expunge(store, [1]);
  await store.store(1, [3], 'add', { ...FLAG, bits: SEEN });
  expect(view.takeUpdates('no-expunge')).toBe('* 3 FETCH (UID 3 FLAGS (\\Seen))\r\n');
  expect(view.takeUpdates('all')).toBe('* 1 EXPUNGE\r\n');
});

test.each([[false], [true]])(
  'own changes are not echoed unless another changed it too (journal lost: %s)',
  async (lost) => {
    const { store, view } = await inbox(2);
    store.discardChanges = lost;
    const own = await store.store(1, [1, 2], 'add', { ...FLAG, bits: SEEN });
    if ('modseqs' in own) view.addOwnChanges(own.modseqs);
    await store.store(1, [2], 'add', { bits: 0, keywords: [] });
    expect(view.takeUpdates('all')).toBe('');
    await store.store(1, [1], 'remove', { ...FLAG, bits: SEEN });
    expect(view.takeUpdates('all')).toBe('* 1 FETCH (UID 1 FLAGS ())\r\n');
  },
);

test('flags of arrivals are not distinguished: the client asks for them after EXISTS', async () => {
  const { store, view } = await inbox(1);
  store.deliver('INBOX', 'A: b\n\n');
  await store.store(1, [1, 2], 'add', { ...FLAG, bits: SEEN });
  expect(view.takeUpdates('all')).toBe('* 2 EXISTS\r\n* 1 FETCH (UID 1 FLAGS (\\Seen))\r\n');
});

test('sets of numbers and of UIDs', async () => {
  const { store, view } = await inbox(4);
  await expunge(store, [2]);
  view.takeUpdates('all');
  const all = [{ from: 1, to: 0 }];
  expect([...view.uidsOf(all, false)]).toEqual([1, 3, 4]);
  expect([...view.uidsOf([{ from: 3, to: 2 }], false)]).toEqual([3, 4]);
  expect([...view.uidsOf([{ from: 2, to: 3 }], true)]).toEqual([3]);
  expect([...view.uidsOf([{ from: 900, to: 0 }], true)]).toEqual([4]);
  expect(() => view.uidsOf([{ from: 1, to: 4 }], false)).toThrow(ImapSyntaxError);
});
