import { describe, expect, test } from 'vitest';
import { expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { vanishedSince } from '../../mail/store/mailbox/vanished.ts';
import { purgeExpunged } from '../../mail/store/retention/purge.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { engines, testAccount, testStore } from '../support/store.ts';

interface Box {
  account: number;
  inbox: number;
}

async function fill(store: MailStore, { account }: Box, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await deliverMail(store, { account, to: 'me@box.test' }, `Subject: ${n}\n\n${n}\n`);
}

async function remove(store: MailStore, { account, inbox }: Box, uids: number[]): Promise<number> {
  const flags = { bits: 16, keywords: [] };
  await store.write(storeFlags, { account, mailbox: inbox, uids, how: 'add', flags, unchangedSince: null });
  const { modseq } = await store.write(expunge, { account, mailbox: inbox, uids });
  return modseq ?? 0;
}

describe.each(Object.keys(engines) as (keyof typeof engines)[])('what left a mailbox, on the %s', (engine) => {
  test('is listed from a mod-sequence on, in ranges, also after its messages were purged', async () => {
    await using box = await testStore(engine);
    const { store } = box;
    const mine = await testAccount(store);
    const where = { account: mine.account, mailbox: mine.inbox };
    await fill(store, mine, 8);
    const first = await remove(store, mine, [2, 3, 7]);
    const second = await remove(store, mine, [4]);
    const all = [
      { from: 2, to: 4 },
      { from: 7, to: 7 },
    ];
    expect(await store.read(vanishedSince, { ...where, modseq: 1 })).toEqual(all);
    expect(await store.read(vanishedSince, { ...where, modseq: first })).toEqual([{ from: 4, to: 4 }]);
    expect(await store.read(vanishedSince, { ...where, modseq: second })).toEqual([]);
    await store.write(purgeExpunged, { before: box.clock.now + 1 });
    expect(await store.read(vanishedSince, { ...where, modseq: 1 })).toEqual(all);
    expect(await store.read(vanishedSince, { ...where, modseq: first })).toEqual([{ from: 4, to: 4 }]);
    const reopened = await box.reopen();
    expect(await reopened.read(vanishedSince, { ...where, modseq: 1 })).toEqual(all);
  });

  test('is listed to its own account alone', async () => {
    await using box = await testStore(engine);
    const mine = await testAccount(box.store);
    const other = await testAccount(box.store, 'other', { tenant: 2, name: 'other.test' });
    await fill(box.store, mine, 2);
    await remove(box.store, mine, [1]);
    const queried = { account: other.account, mailbox: mine.inbox, modseq: 1 };
    expect(await box.store.read(vanishedSince, queried)).toEqual([]);
  });
});
