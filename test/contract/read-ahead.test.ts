import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseFetch } from '../../mail/imap/fetch/parse.ts';
import { readAhead } from '../../mail/imap/fetch/read-ahead.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { Decoder } from '../../mail/imap/wire/decoder.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { rawChange } from '../support/raw-change.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

let box: TestStore;
let account: number;
let inbox: number;
let imap: StoreBackend;

beforeEach(async () => {
  box = await testStore();
  ({ account, inbox } = await testAccount(box.store));
  imap = new StoreBackend(box.store, account, () => box.clock.now);
});

afterEach(() => box[Symbol.asyncDispose]());

async function deliverAll(texts: readonly string[]): Promise<void> {
  for (const text of texts)
    await deliverMail(box.store, { account, to: 'me@box.test' }, `From: a@a.example\nSubject: x\n\n${text}\n`);
}

/** The octets that are read ahead of each message, in groups; null: none. */
async function ahead(items: string, count: number): Promise<(string | null)[][]> {
  const request = parseFetch(new Decoder(Buffer.from(items)), false);
  const uids = Array.from({ length: count }, (_, at) => at + 1);
  const rows = await imap.rows(inbox, uids, { structure: request.structure });
  const groups: (string | null)[][] = [];
  for await (const group of readAhead(imap, rows, request))
    groups.push(group.map(({ blob }) => blob?.toString('latin1') ?? null));
  return groups;
}

const endings = (groups: readonly (readonly (string | null)[])[]): (string | undefined)[] =>
  groups.flat().map((octets) => octets?.trimEnd().split('\r\n').at(-1)?.slice(0, 10));

test('small messages are read ahead; large, redacted, shortened and lost ones are not', async () => {
  await deliverAll(['one', 'x'.repeat(70_000), 'three', 'secret', 'short', 'lost', 'seven']);
  await rawChange(box.store, 'UPDATE email SET redacted_from = 1 WHERE blob_id = 4');
  await rawChange(box.store, 'UPDATE blob SET data = substr(data, 1, 20) WHERE id = 5');
  await rawChange(box.store, 'DELETE FROM blob WHERE id = 6');
  const all = ['one', undefined, 'three', undefined, undefined, undefined, 'seven'];
  expect(endings(await ahead('BODY.PEEK[]', 7))).toEqual(all);
  expect(endings(await ahead('(UID BODY.PEEK[TEXT])', 7))).toEqual(all);
});

test('at most 256 KiB are read at once, and of headers only the longest of them', async () => {
  await deliverAll(Array.from({ length: 9 }, (_, at) => `${at}`.repeat(60_000)));
  const sizes = (await ahead('BODY.PEEK[]', 9)).map((group) => group.length);
  expect(sizes).toEqual([4, 4, 1]);
  const [headers = [], ...others] = await ahead('BODY.PEEK[HEADER.FIELDS (SUBJECT)]', 9);
  expect(others).toEqual([]);
  expect(headers.every((octets) => octets?.endsWith('Subject: x\r\n\r\n'))).toBe(true);
});

test('a part that has to be decoded is not read ahead', async () => {
  await deliverAll(['one', 'two']);
  expect(await ahead('BINARY.PEEK[1]', 2)).toEqual([[null, null]]);
});
