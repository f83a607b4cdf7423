import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { purgeRemovedAccount } from '../../mail/store/account/account-removal.ts';
import { setHiddenCapabilities } from '../../mail/store/account/imap-setting.ts';
import type { AnnotationChange } from '../../mail/store/mailbox/annotation.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { rawChange, rawRows } from '../support/raw-change.ts';
import { finishAppend } from '../support/finish-append.ts';

const imapOf = (box: TestStore, account: number) => new StoreBackend(box.store, account, () => box.clock.now);
const entry = (name: string, value: string | null): AnnotationChange => ({
  name,
  value: value === null ? null : Buffer.from(value),
});
const texts = (found: readonly { name: string; value: Uint8Array }[]) =>
  found.map(({ name, value }) => `${name}=${Buffer.from(value).toString()}`);

async function rows(box: TestStore, table: string): Promise<number | undefined> {
  return (await rawRows<{ n: number }>(box.store, `SELECT count(*) AS n FROM ${table}`))[0]?.n;
}

test('entries belong to a mailbox and stay with it when it is renamed, not when it is created anew', async () => {
  await using box = await testStore();
  const imap = imapOf(box, (await testAccount(box.store)).account);
  await imap.create('Work');
  const work = (await imap.mailbox('Work'))?.id ?? 0;
  expect(await imap.annotate(work, [entry('/private/comment', 'a'), entry('/shared/comment', 'b')])).toBe('done');
  await imap.rename('Work', 'Play');
  const play = (await imap.mailbox('Play'))?.id ?? 0;
  expect(texts(await imap.annotations(play))).toEqual(['/private/comment=a', '/shared/comment=b']);
  expect(texts(await imap.namedAnnotations(['/shared/comment']))).toEqual(['/shared/comment=b']);
  await imap.remove('Play');
  await imap.create('Play');
  expect(await imap.annotations((await imap.mailbox('Play'))?.id ?? 0)).toEqual([]);
  expect(await rows(box, 'annotation')).toBe(0);
});

test('entries of one account are neither read nor written by another one, also by the number of the mailbox', async () => {
  await using box = await testStore();
  const mine = await testAccount(box.store, 'me');
  const me = imapOf(box, mine.account);
  const other = imapOf(box, (await testAccount(box.store, 'other')).account);
  await me.annotate(mine.inbox, [entry('/private/comment', 'mine'), entry('/shared/comment', 'mine too')]);
  await me.annotate(0, [entry('/private/comment', 'account')]);
  expect(await other.annotations(mine.inbox)).toEqual([]);
  expect(await other.annotations(0)).toEqual([]);
  expect(await other.namedAnnotations(['/private/comment', '/shared/comment'])).toEqual([]);
  expect(await other.annotate(mine.inbox, [entry('/shared/comment', 'theirs')])).toBe('missing');
  expect(texts(await me.annotations(mine.inbox))).toEqual(['/private/comment=mine', '/shared/comment=mine too']);
});

test('a change beyond a limit changes nothing, and fits after others were removed', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = imapOf(box, account);
  const many = (from: number, count: number): AnnotationChange[] =>
    Array.from({ length: count }, (_, n) => entry(`/private/x${from + n}`, 'v'));
  for (let at = 0; at < 1000; at += 100) expect(await imap.annotate(inbox, many(at, 100))).toBe('done');
  expect(await imap.annotate(0, [entry('/private/y', 'v')])).toBe('too-many');
  expect(await imap.annotate(inbox, [entry('/private/x0', null), ...many(1000, 2)])).toBe('too-many');
  expect(texts(await imap.annotations(inbox))).toContain('/private/x0=v');
  expect(await imap.annotate(inbox, [entry('/private/x0', null), entry('/private/z', 'v')])).toBe('done');

  const large = 'v'.repeat(64 * 1024);
  for (let at = 0; at < 15; at++)
    expect(await imap.annotate(inbox, [entry(`/private/x${at + 1}`, large)])).toBe('done');
  expect(await imap.annotate(inbox, [entry('/private/x16', large)])).toBe('too-large');
  expect(texts(await imap.annotations(inbox))).toContain('/private/x16=v');
});

test('entries and hidden capabilities are purged with their account', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = imapOf(box, account);
  await imap.annotate(inbox, [entry('/private/comment', 'a')]);
  await box.store.write(setHiddenCapabilities, { account, names: ['QUOTA', 'MOVE', 'QUOTA'] });
  expect(await imap.hiddenCapabilities()).toEqual(['MOVE', 'QUOTA']);
  await rawChange(box.store, 'UPDATE account SET state = 2 WHERE id = ?', account);
  for (let more = true; more;) ({ more } = await box.store.write(purgeRemovedAccount, { account }));
  expect([await rows(box, 'annotation'), await rows(box, 'imap_setting')]).toEqual([0, 0]);
});

test('what EXPUNGE would free is counted of the own mailbox only', async () => {
  await using box = await testStore();
  const mine = await testAccount(box.store, 'me');
  const me = imapOf(box, mine.account);
  const sink = me.append(20);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from('Subject: s\r\n\r\ntext\r\n'));
  await finishAppend(me, sink, { mailbox: 'INBOX', flags: { bits: 16, keywords: [] }, receivedAt: undefined });
  expect(await me.deletedBytes(mine.inbox)).toBe(20);
  expect(await imapOf(box, (await testAccount(box.store, 'other')).account).deletedBytes(mine.inbox)).toBe(0);
});
