import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { AppendOutcome, AppendSink, NewMessage } from '../../mail/imap/imap-store.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { testAccount, testStore } from '../support/store.ts';

const NO_FLAGS = { bits: 0, keywords: [] };

async function backend(box: Awaited<ReturnType<typeof testStore>>) {
  const { account, inbox } = await testAccount(box.store);
  return { account, inbox, imap: new StoreBackend(box.store, account, () => box.clock.now) };
}

async function received(imap: StoreBackend, text: string, options?: { inFile: boolean }): Promise<AppendSink> {
  const sink = imap.append(text.length, options);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from(text));
  await sink.close();
  return sink;
}

async function append(
  imap: StoreBackend,
  sinks: AppendSink[],
  replaces?: { mailbox: number; uid: number },
): Promise<AppendOutcome> {
  const messages = sinks.map((sink) => ({ sink, flags: NO_FLAGS, receivedAt: undefined }));
  const mailbox = (await imap.mailbox('INBOX'))!;
  return imap.finishAppends({ mailbox, messages, ...(replaces && { replaces }) });
}

async function textOf(imap: StoreBackend, mailbox: number, uid: number): Promise<string> {
  const [row] = await imap.rows(mailbox, [uid], { structure: false });
  return row === undefined ? '' : (await imap.bytes(row.content, 0, 1024 * 1024)).toString();
}

/** Files of messages on disk. */
function files(box: Awaited<ReturnType<typeof testStore>>): string[] {
  return readdirSync(box.store.files.directory, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.length > 10,
  );
}

test('several messages are one commit: short ones, large ones and short ones in files', async () => {
  await using box = await testStore();
  const { inbox, imap } = await backend(box);
  const texts = [
    'Subject: 1\r\n\r\none\r\n',
    `Subject: 2\r\n\r\n${'two\r\n'.repeat(20_000)}`,
    'Subject: 3\r\n\r\nthree\r\n',
    'Subject: 4\r\n\r\nfour\r\n',
  ];
  const sinks: AppendSink[] = [];
  for (const [n, text] of texts.entries()) sinks.push(await received(imap, text, { inFile: n === 2 }));
  const outcome = await append(imap, sinks);
  expect(outcome).toMatchObject({ kind: 'appended', uids: [1, 2, 3, 4] });
  for (const [n, text] of texts.entries()) expect(await textOf(imap, inbox, n + 1)).toBe(text);
  expect(files(box).length).toBe(2);
  const [first, last] = await imap.rows(inbox, [1, 4], { structure: false });
  expect(first?.emailId).not.toBe(last?.emailId);
});

test('when the quota has no room for all of them, none is stored and no file stays', async () => {
  await using box = await testStore();
  const { account, imap } = await backend(box);
  await box.store.write(setQuota, { account, bytes: 100_000 });
  const text = `Subject: x\r\n\r\n${'0123456789\r\n'.repeat(6_000)}`;
  const sinks = [await received(imap, text), await received(imap, text)];
  expect(await append(imap, sinks)).toEqual({ kind: 'over-quota' });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 0 });
  await expect.poll(() => files(box)).toEqual([]);
});

test('a mailbox that is renamed while a message is sent gets it; one that is deleted does not, and no file stays', async () => {
  await using box = await testStore();
  const { imap } = await backend(box);
  await imap.create('old');
  const mailbox = (await imap.mailbox('old'))!;
  const messages = async (): Promise<NewMessage[]> => {
    const sink = await received(imap, `Subject: x\r\n\r\n${'0123456789\r\n'.repeat(10_000)}`);
    return [{ sink, flags: NO_FLAGS, receivedAt: undefined }];
  };
  const [first, second] = [await messages(), await messages()];
  await imap.rename('old', 'new');
  expect(await imap.finishAppends({ mailbox, messages: first })).toMatchObject({ kind: 'appended', uids: [1] });
  expect(await imap.mailbox('new')).toMatchObject({ total: 1 });
  await imap.remove('new');
  expect(await imap.finishAppends({ mailbox, messages: second })).toEqual({ kind: 'missing' });
  await expect.poll(() => files(box).length).toBe(1);
});

test('REPLACE stores the new message and expunges the old one with one mod-sequence', async () => {
  await using box = await testStore();
  const { inbox, imap } = await backend(box);
  await append(imap, [await received(imap, 'Subject: old\r\n\r\n')]);
  using view = Object.assign(await imap.open(inbox), { [Symbol.dispose]: () => undefined });
  const before = view.highestModseq;
  const outcome = await append(imap, [await received(imap, 'Subject: new\r\n\r\n')], { mailbox: inbox, uid: 1 });
  expect(outcome).toMatchObject({ kind: 'appended', uids: [2], modseq: before + 1 });
  expect([...view.uids.subarray(0, view.length)]).toEqual([2]);
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 1, deleted: 0, bytes: 16 });
  const again = await append(imap, [await received(imap, 'Subject: newer\r\n\r\n')], { mailbox: inbox, uid: 1 });
  expect(again).toEqual({ kind: 'gone' });
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 1 });
});
