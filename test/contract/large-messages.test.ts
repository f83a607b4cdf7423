import { expect, test } from 'vitest';
import { parseSearch } from '../../mail/imap/search/parse.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { Decoder } from '../../mail/imap/wire/decoder.ts';
import { testAccount, testStore } from '../support/store.ts';
import { costRatio } from '../support/cost.ts';
import { finishAppend } from '../support/finish-append.ts';

test('a search that asks for headers reads no attachments', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  const sink = imap.append(0);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from('Subject: the needle\r\n\r\n'));
  for (let n = 0; n < 20; n += 1) await sink.write(Buffer.alloc(1024 * 1024, 'x'));
  await finishAppend(imap, sink, { mailbox: 'INBOX', flags: { bits: 0, keywords: [] }, receivedAt: 1 });
  // Copies into the mailbox itself share the blob.
  for (let n = 0; n < 7; n += 1) {
    const uids = Array.from({ length: 2 ** n }, (_, i) => i + 1);
    expect(await imap.copy(inbox, uids, 'INBOX', false)).toMatchObject({ kind: 'done' });
  }
  const view = await imap.open(inbox);
  const queried = parseSearch(new Decoder(Buffer.from('SUBJECT needle NOT FROM nobody')));
  if (queried.kind !== 'search') throw new Error(queried.kind);
  expect(await imap.search(inbox, view, queried.program)).toHaveLength(128);
  // To read them all would be to read 2.5 GB.
  const one = Buffer.alloc(20 * 1024 * 1024, 'x');
  const ratio = await costRatio(
    () => one.toString('latin1').includes('needle'),
    () => imap.search(inbox, view, queried.program),
  );
  expect(ratio).toBeLessThan(20);
  view.close();
});
