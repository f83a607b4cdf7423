import { expect, test } from 'vitest';
import { flagsOf } from '../../mail/imap/flags.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { finishAppend } from '../support/finish-append.ts';

/** More than there are slots in the bits of an entry. */
const MANY = Array.from({ length: 40 }, (_, i) => `word${i}`);

async function inbox(messages: number): Promise<{ box: TestStore; imap: StoreBackend; mailbox: number }> {
  const box = await testStore();
  const { account, inbox: mailbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  for (let n = 0; n < messages; n += 1) await append(imap, []);
  return { box, imap, mailbox };
}

async function append(imap: StoreBackend, keywords: readonly string[]): Promise<string> {
  const sink = imap.append(10);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from('Subject: x\r\n\r\n'));
  return (await finishAppend(imap, sink, { mailbox: 'INBOX', flags: { bits: 0, keywords }, receivedAt: 1 })).kind;
}

test('keywords beyond the slots are reported of the message that has them, and of no other', async () => {
  const { box, imap, mailbox } = await inbox(3);
  await using _ = box;
  const view = await imap.open(mailbox);
  await imap.store(mailbox, [1], 'add', { bits: 0, keywords: MANY.slice(0, 26) });
  await imap.store(mailbox, [1], 'replace', { bits: 1, keywords: ['late'] });
  await imap.store(mailbox, [2], 'replace', { bits: 1, keywords: [] });
  await imap.store(mailbox, [3], 'replace', { bits: 0, keywords: ['later'] });
  expect([1, 2, 3].map((uid) => flagsOf(view, uid).text)).toEqual(['(\\Seen late)', '(\\Seen)', '(later)']);
  view.close();
});

test('taking a keyword away that nobody has makes none', async () => {
  const { box, imap, mailbox } = await inbox(1);
  await using _ = box;
  const view = await imap.open(mailbox);
  expect(await imap.store(mailbox, [1], 'remove', { bits: 0, keywords: ['nobody'] })).toMatchObject({ modseqs: [] });
  await imap.store(mailbox, [1], 'add', { bits: 1, keywords: [] });
  expect(view.keywords).toEqual([]);
  view.close();
});

test('a message does not gather keywords without end', async () => {
  const { box, imap, mailbox } = await inbox(1);
  await using _ = box;
  const word = (n: number): string[] => Array.from({ length: 90 }, (__, i) => `w${n * 90 + i}`);
  expect(await imap.store(mailbox, [1], 'add', { bits: 0, keywords: word(0) })).toMatchObject({ modified: [] });
  expect(await imap.store(mailbox, [1], 'add', { bits: 0, keywords: word(1) })).toEqual({ kind: 'too-many-keywords' });
  expect(await imap.store(mailbox, [1], 'remove', { bits: 0, keywords: ['w89'] })).toMatchObject({ modified: [] });
  expect(await append(imap, [...word(2), ...word(3)])).toBe('too-many-keywords');
});
