import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { testAccount, testStore } from '../support/store.ts';
import { finishAppend } from '../support/finish-append.ts';

const FLAGGED = { bits: 4, keywords: [] };

test('an account reaches nothing of another one, also when it knows the numbers', async () => {
  await using box = await testStore('writer thread');
  const mine = await testAccount(box.store, 'me');
  const theirs = await testAccount(box.store, 'other');
  const me = new StoreBackend(box.store, mine.account, () => box.clock.now);
  const other = new StoreBackend(box.store, theirs.account, () => box.clock.now);
  const sink = other.append(20);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from('Subject: theirs\r\n\r\nsecret\r\n'));
  expect(await finishAppend(other, sink, { mailbox: 'INBOX', flags: FLAGGED, receivedAt: undefined })).toMatchObject({
    uid: 1,
  });

  const view = await me.open(theirs.inbox);
  expect({ gone: view.gone, length: view.length }).toEqual({ gone: true, length: 0 });
  expect(await me.rows(theirs.inbox, [1], { structure: true })).toEqual([]);
  expect(await me.store(theirs.inbox, [1], 'add', { bits: 16, keywords: [] })).toEqual({ modseqs: [], modified: [] });
  expect(await me.expunge(theirs.inbox, [1])).toMatchObject({ uids: [] });
  expect(await me.copy(theirs.inbox, [1], 'INBOX', false)).toEqual({ kind: 'missing' });
  expect(await me.copy(theirs.inbox, [1], 'INBOX', true)).toEqual({ kind: 'missing' });
  expect((await me.mailbox('INBOX'))?.total).toBe(0);

  // Nothing happened to it, and its owner has it.
  const own = await other.open(theirs.inbox);
  expect(own.flagNames(1)).toEqual(['\\Flagged']);
  expect(await other.rows(theirs.inbox, [1], { structure: false })).toHaveLength(1);
  const secret = { key: 'text', text: 'secret' } as const;
  expect(await other.search(theirs.inbox, own, secret)).toEqual(Uint32Array.of(1));
  expect(await me.search(theirs.inbox, own, secret)).toEqual(new Uint32Array());
  await other.store(theirs.inbox, [1], 'add', { bits: 16, keywords: [] });
  await other.expunge(theirs.inbox, [1]);
  // Expunged rows stay readable for a while, for their owner only.
  expect(await other.rows(theirs.inbox, [1], { structure: false })).toHaveLength(1);
  expect(await me.rows(theirs.inbox, [1], { structure: false })).toEqual([]);
});
