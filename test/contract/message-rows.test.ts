import { afterEach, beforeEach, expect, test } from 'vitest';
import { messageRows } from '../../mail/store/blob/content.ts';
import { copyEntries, expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

let box: TestStore;
let account: number;
let inbox: number;

beforeEach(async () => {
  box = await testStore();
  ({ account, inbox } = await testAccount(box.store));
});

afterEach(() => box[Symbol.asyncDispose]());

test.each([
  ['in a row', [1, 2, 3, 4]],
  ['with a gap', [1, 3, 4]],
  ['far apart', [1, 6]],
  ['in any order', [4, 2, 1]],
  ['that do not exist', [2, 7, 8]],
  ['of nothing', []],
])('rows of UIDs %s are theirs alone, with those of expunged messages', async (_, uids) => {
  for (let n = 1; n <= 6; n++) await deliverMail(box.store, { account, to: 'me@box.test' }, `Subject: ${n}\n\nText\n`);
  // Another mailbox has the same UIDs.
  const to = (await box.store.read(findMailbox, { account, name: 'Archive' }))?.id ?? 0;
  await box.store.write(copyEntries, { account, mailbox: inbox, uids: [1, 2, 3], to, move: false });
  const deleted = { account, mailbox: inbox, uids: [2, 4] };
  const flags = { bits: 16, keywords: [] };
  await box.store.write(storeFlags, { ...deleted, how: 'add', flags, unchangedSince: null });
  await box.store.write(expunge, deleted);
  const wanted = uids.filter((uid) => uid <= 6).sort((a, b) => a - b);
  for (const structure of [false, true]) {
    const rows = await box.store.read(messageRows, { account, mailbox: inbox, uids, structure });
    expect(rows.map(({ uid }) => uid)).toEqual(wanted);
    expect(rows.map(({ savedAt }) => savedAt === null)).toEqual(wanted.map((uid) => uid === 2 || uid === 4));
    expect(await box.store.read(messageRows, { account: account + 1, mailbox: inbox, uids, structure })).toEqual([]);
  }
});
