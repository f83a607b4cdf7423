import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { testAccount, testStore } from '../support/store.ts';
import type { TestStore } from '../support/store.ts';

const SEEN = { bits: 1, keywords: ['$new'] };

async function threeMails(box: TestStore): Promise<{ imap: StoreBackend; account: number; inbox: number }> {
  const { account, inbox } = await testAccount(box.store);
  for (const n of [1, 2, 3]) await deliverMail(box.store, { account, to: 'me@box.test' }, `Subject: ${n}\n\n${n}\n`);
  return { imap: new StoreBackend(box.store, account, () => box.clock.now), account, inbox };
}

test('a mailbox that is opened again has what changed while no session had it open', async () => {
  await using box = await testStore();
  const { imap, account, inbox } = await threeMails(box);
  const first = await imap.open(inbox);
  first.close();
  await imap.store(inbox, [3], 'add', SEEN);
  await imap.store(inbox, [1], 'add', { bits: 16, keywords: [] });
  await imap.expunge(inbox, [1]);
  await deliverMail(box.store, { account, to: 'me@box.test' }, 'Subject: 4\n\n4\n');
  const again = await imap.open(inbox);
  expect(again).toBe(first);
  expect([...again.uids.subarray(0, again.length)]).toEqual([2, 3, 4]);
  expect([again.flagNames(3), again.keywords]).toEqual([['\\Seen', '$new'], ['$new']]);
  expect([again.uidNext, again.highestModseq]).toEqual([5, (await imap.mailbox('INBOX'))?.highestModseq]);
  expect(again.changesSince(again.highestModseq)).toEqual([]);
});

test('a mailbox that was deleted meanwhile is not opened from memory', async () => {
  await using box = await testStore();
  const { imap } = await threeMails(box);
  await imap.create('Work');
  const work = (await imap.mailbox('Work'))?.id ?? 0;
  (await imap.open(work)).close();
  await imap.remove('Work');
  const gone = await imap.open(work);
  expect(gone.gone).toBe(true);
});

test('the view of one account is never opened for another', async () => {
  await using box = await testStore();
  const { imap, inbox } = await threeMails(box);
  (await imap.open(inbox)).close();
  const other = await testAccount(box.store, 'other', { tenant: 2, name: 'other.test' });
  const view = await new StoreBackend(box.store, other.account, () => box.clock.now).open(inbox);
  expect([view.gone, view.length]).toEqual([true, 0]);
});
