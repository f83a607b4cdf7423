import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
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

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['in a subject', 'Subject: =?utf-8?q?a=00b?=\n\nx'],
  ['in names', 'From: =?utf-8?q?a=00b?= <a@b.test>\nTo: =?utf-8?b?AAAA?= <x@y.test>\nSubject: s\n\nx'],
  ['as octets of a header', 'Subject: a\0b\nFrom: a\0b <a\0@b.test>\nMessage-ID: <a\0@b>\nReferences: <\0@x>\n\nx\0y'],
  ['in a body', `Subject: s\nContent-Transfer-Encoding: base64\n\n${base64('a\0b')}`],
  [
    'in file names',
    `Content-Type: text/plain; name="=?utf-8?q?a=00b?="\nContent-Disposition: attachment; filename*=utf-8''a%00b.txt\n\nx`,
  ],
  [
    'in the fields of a part',
    'Content-Type: te\0xt/pl\0ain; charset="\0"\nContent-Id: <\0>\nContent-Disposition: \0\n\nx',
  ],
  ['in fields of a list', 'List-Id: =?utf-8?q?=00?= <\0.x.test>\nList-Unsubscribe: <https://x/\0>\n\nx'],
])('a message with NUL %s is stored and shown', async (_, text) => {
  await deliverMail(box.store, { account, to: 'me@box.test' }, text);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  expect(await imap.rows(inbox, [1], { structure: true, preview: true })).toHaveLength(1);
});

test.each([
  ['in a subject', 'Subject: =?utf-16?b?2AA=?=\nFrom: =?utf-7?q?+2AA-?= <a@b.test>\n\nx'],
  ['in a body', 'Subject: s\nContent-Type: text/plain; charset=utf-7\n\n+2AA- hello +2AA'],
])('a message with a surrogate without a pair %s is stored and shown', async (_, text) => {
  await deliverMail(box.store, { account, to: 'me@box.test' }, text);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  expect(await imap.rows(inbox, [1], { structure: true, preview: true })).toHaveLength(1);
});
