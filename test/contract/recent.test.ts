import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { testAccount, testStore } from '../support/store.ts';
import type { TestStore } from '../support/store.ts';

async function twoMails(box: TestStore): Promise<{ imap: () => StoreBackend; account: number; inbox: number }> {
  const { account, inbox } = await testAccount(box.store);
  for (const n of [1, 2]) await deliverMail(box.store, { account, to: 'me@box.test' }, `Subject: ${n}\n\n${n}\n`);
  return { imap: () => new StoreBackend(box.store, account, () => box.clock.now), account, inbox };
}

test('a message is recent until a session claims it, also after a restart, and a second session has none', async () => {
  await using box = await testStore();
  const { imap, account, inbox } = await twoMails(box);
  expect(await imap().recent(inbox)).toBe(2);
  const view = await imap().open(inbox);
  expect(view.claimRecent()).toBe(1);
  expect(await imap().recent(inbox)).toBe(0);
  const second = await imap().open(inbox);
  expect(second.claimRecent()).toBe(3);
  await deliverMail(box.store, { account, to: 'me@box.test' }, 'Subject: 3\n\n3\n');
  expect(await imap().recent(inbox)).toBe(1);
  expect([second.claimRecent(), view.claimRecent()]).toEqual([3, 4]);
  view.close();
  second.close();
  expect((await imap().open(inbox)).claimRecent()).toBe(4);
  await box.reopen();
  expect(await imap().recent(inbox)).toBe(0);
});

test('EXAMINE, which claims nothing, stores nothing', async () => {
  await using box = await testStore();
  const { imap, inbox } = await twoMails(box);
  const view = await imap().open(inbox);
  expect(view.recentFrom).toBe(1);
  view.close();
  await box.reopen();
  expect(await imap().recent(inbox)).toBe(2);
});

test('a deleted mailbox stays subscribed by name, and is so again when it is created again', async () => {
  await using box = await testStore();
  const { imap } = await twoMails(box);
  const store = imap();
  await store.create('a/b');
  const subscribed = async (): Promise<string[]> =>
    (await store.mailboxes()).filter((each) => each.subscribed && each.name.startsWith('a')).map(({ name }) => name);
  expect(await subscribed()).toEqual([]);
  await store.subscribe('a', true);
  await store.subscribe('a/b', true);
  expect(await subscribed()).toEqual(['a', 'a/b']);
  await store.remove('a/b');
  await store.remove('a');
  expect(await store.formerSubscriptions()).toEqual(['a', 'a/b']);
  await store.create('a/b');
  expect([await subscribed(), await store.formerSubscriptions()]).toEqual([['a', 'a/b'], []]);
  await store.subscribe('a/b', false);
  await store.remove('a/b');
  expect(await store.formerSubscriptions()).toEqual([]);
  expect([await store.subscribe('a/b', false), await store.subscribe('a/b', true)]).toEqual(['missing', 'missing']);
});
