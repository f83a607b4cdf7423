import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { setQuota } from '../../../mail/store/account/account.ts';
import type { CreatedEmail } from '../../../mail/jmap/email-set/email-storage.ts';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import { create, octetsOf } from '../../support/jmap-emails.ts';
import { type JmapFixture, createJmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount } from '../../support/store.ts';

let mine: JmapFixture;
let theirs: JmapFixture;
let email: CreatedEmail;

beforeAll(async () => {
  mine = await createJmapFixture();
  theirs = jmapFixtureOn(mine.box, { ...(await testAccount(mine.box.store, 'other')), address: 'other@box.test' });
  email = await create(mine, { textBody: [{ partId: 't' }], bodyValues: { t: { value: 'Grüße\n' } } });
});
afterAll(() => mine[Symbol.asyncDispose]());

type Shown = Record<string, unknown> & { id: string };

async function upload(data: object[], more: object = {}, fixture = mine): Promise<Shown> {
  const answer = await fixture.call('Blob/upload', { create: { k: { data, ...more } } });
  expect(answer['notCreated']).toBeNull();
  return (answer['created'] as { k: Shown }).k;
}

async function refusedUpload(data: unknown, more: object = {}): Promise<Record<string, unknown>> {
  const answer = await mine.call('Blob/upload', { create: { k: { data, ...more } } });
  expect(answer['created']).toBeNull();
  return (answer['notCreated'] as { k: Record<string, unknown> }).k;
}

async function get(id: string, more: object = {}): Promise<Shown> {
  const answer = await mine.call('Blob/get', { ids: [id], ...more });
  const [one] = answer['list'] as Shown[];
  if (one === undefined) throw new Error(`not found: ${JSON.stringify(answer)}`);
  return one;
}

test('text and base64 become a blob and are returned unchanged', async () => {
  const made = await upload([{ 'data:asText': 'Grüße \u0000' }, { 'data:asBase64': 'IQ==' }], { type: 'text/plain' });
  expect(made).toEqual({ id: expect.stringMatching(/^u/) as string, type: 'text/plain', size: 10 });
  expect(await octetsOf(mine, made.id)).toEqual(Buffer.from('Grüße \u0000!'));
  expect(await get(made.id)).toEqual({ id: made.id, 'data:asText': 'Grüße \u0000!', size: 10 });
  const base64 = Buffer.from('Grüße \u0000!').toString('base64');
  expect(await get(made.id, { properties: ['data:asBase64'] })).toEqual({ id: made.id, 'data:asBase64': base64 });
  expect((await upload([{ 'data:asText': '' }]))['type']).toBe('application/octet-stream');
});

test('blobs of the same request are concatenated', async () => {
  const pieces = [
    { 'data:asText': 'a ' },
    { blobId: '#one', offset: 4, length: 5 },
    { blobId: '#one', offset: 19 },
    { blobId: email.blobId, offset: 0, length: 0, 'data:asText': null },
  ];
  const { methodResponses } = await mine.request([
    [
      'Blob/upload',
      { accountId: mine.accountId, create: { one: { data: [{ 'data:asText': 'The quick brown fox.' }] } } },
      '0',
    ],
    ['Blob/upload', { accountId: mine.accountId, create: { two: { data: pieces, type: null } } }, '1'],
    ['Blob/get', { accountId: mine.accountId, ids: ['#two'] }, '2'],
  ]);
  expect(methodResponses[2]?.[1]).toMatchObject({ list: [{ 'data:asText': 'a quick.', size: 8 }], notFound: [] });
});

test.each([
  ['two kinds at once', [{ 'data:asText': 'a', 'data:asBase64': 'YQ==' }]],
  ['none', [{}]],
  ['all null', [{ 'data:asText': null, blobId: null }]],
  ['no list', { 'data:asText': 'a' }],
  ['base64 with a foreign character', [{ 'data:asBase64': 'YQ=*' }]],
  ['base64 without its padding', [{ 'data:asBase64': 'YQ' }]],
  ['a range of text', [{ 'data:asText': 'abc', offset: 1 }]],
  ['an unknown member', [{ 'data:asText': 'abc', __proto: 1 }]],
  ['65 sources', Array.from({ length: 65 }, () => ({ 'data:asText': '' }))],
])('nothing is guessed of %s', async (_name, data) => {
  expect(await refusedUpload(data)).toMatchObject({ type: 'invalidProperties', properties: ['data'] });
});

test('a range outside its blob is refused', async () => {
  const { id } = await upload([{ 'data:asText': 'abc' }]);
  for (const range of [{ offset: 4 }, { offset: 1, length: 3 }, { length: 4 }, { offset: Number.MAX_SAFE_INTEGER }]) {
    expect(await refusedUpload([{ blobId: id, ...range }])).toMatchObject({ type: 'invalidProperties' });
  }
  expect((await upload([{ blobId: id, offset: 3 }]))['size']).toBe(0);
  const gone = { type: 'blobNotFound', notFound: ['u9999'] };
  expect(await refusedUpload([{ blobId: 'u9999' }])).toMatchObject(gone);
  expect(await refusedUpload([{ 'data:asText': '' }], { type: 'text/plain\r\nX: y' })).toMatchObject({
    properties: ['type'],
  });
});

test('a blob over the upload limits is refused before it is written', async () => {
  const half = { 'data:asBase64': Buffer.alloc(26_000_000, 1).toString('base64') };
  const { id } = await upload([half]);
  const begun = vi.spyOn(mine.box.store.files, 'create');
  expect(await refusedUpload([{ blobId: id }, { blobId: id }])).toMatchObject({ type: 'tooLarge' });
  await setRoom(1_000_000);
  expect(await refusedUpload([{ blobId: id }])).toMatchObject({ type: 'overQuota' });
  await setRoom(null);
  expect(begun).not.toHaveBeenCalled();
  begun.mockRestore();
});

async function setRoom(bytes: number | null): Promise<void> {
  await mine.box.store.write(setQuota, { account: mine.account, bytes });
}

test('digests and data cover the requested range, the size covers the whole blob', async () => {
  const text = 'The quick brown fox jumped over the lazy dog.';
  const { id } = await upload([{ 'data:asText': text }]);
  const properties = ['data:asText', 'digest:sha', 'digest:sha-256', 'digest:sha-512', 'size'];
  const hash = (name: string, of: string): string => createHash(name).update(of).digest('base64');
  expect(await get(id, { properties, offset: 4, length: 9 })).toEqual({
    id,
    'data:asText': 'quick bro',
    'digest:sha': hash('sha1', 'quick bro'),
    'digest:sha-256': hash('sha256', 'quick bro'),
    'digest:sha-512': hash('sha512', 'quick bro'),
    size: 45,
  });
  expect(await get(id, { properties: ['digest:sha'] })).toEqual({ id, 'digest:sha': hash('sha1', text) });
  expect(await get(id, { offset: 40, length: 20 })).toEqual({
    id,
    'data:asText': ' dog.',
    size: 45,
    isTruncated: true,
  });
  expect(await get(id, { offset: 46 })).toEqual({ id, 'data:asText': '', size: 45, isTruncated: true });
  expect(await get(id, { properties: ['size'] })).toEqual({ id, size: 45 });
});

test('octets that are not UTF-8 are reported as an encoding problem and returned in base64', async () => {
  const { id } = await upload([{ 'data:asBase64': '//4=' }]);
  const problem = { id, isEncodingProblem: true };
  expect(await get(id)).toEqual({ ...problem, 'data:asBase64': '//4=', size: 2 });
  expect(await get(id, { properties: ['data:asText'] })).toEqual({ ...problem, 'data:asText': null });
  expect(await get(id, { properties: ['data:asBase64'] })).toEqual({ id, 'data:asBase64': '//4=' });
  // Half a character.
  const { id: text } = await upload([{ 'data:asText': 'ü' }]);
  expect(await get(text, { length: 1 })).toMatchObject({ 'data:asBase64': 'ww==', isEncodingProblem: true });
});

test('parts of messages are blobs without their transfer encoding', async () => {
  const one = await get(`${email.id}-1`);
  expect(one).toMatchObject({ 'data:asText': 'Grüße\r\n', size: 9 });
  expect((await mine.refusal('Blob/get', { ids: ['u1'], properties: ['url'] }))['type']).toBe('invalidArguments');
  expect((await mine.refusal('Blob/get', { ids: null }))['type']).toBe('invalidArguments');
});

test('one call reads no more than its budget', async () => {
  const { id } = await upload([{ 'data:asBase64': Buffer.alloc(40_000_000, 65).toString('base64') }]);
  expect((await mine.refusal('Blob/get', { ids: [id] }))['type']).toBe('requestTooLarge');
  expect((await get(id, { length: 3 }))['data:asText']).toBe('AAA');
  expect((await get(id, { properties: ['digest:sha'] }))['digest:sha']).toHaveLength(28);
});

test('Blob/lookup finds the email of a message and of its parts; an upload has none', async () => {
  const { id } = await upload([{ 'data:asText': 'abc' }]);
  const part = `${email.id}-1`;
  const answer = await mine.call('Blob/lookup', {
    typeNames: ['Mailbox', 'Email', 'Thread'],
    ids: [email.blobId, part, id, `${email.id}-7`, 'nothing', 'u9999'],
  });
  const mailbox = jmapId('mailbox', mine.inbox);
  const matchedIds = { Email: [email.id], Thread: [email.threadId], Mailbox: [mailbox] };
  expect(answer).toEqual({
    accountId: mine.accountId,
    list: [
      { id: email.blobId, matchedIds },
      { id: part, matchedIds },
      { id, matchedIds: { Email: [], Thread: [], Mailbox: [] } },
    ],
    notFound: [`${email.id}-7`, 'nothing', 'u9999'],
  });
  expect((await mine.refusal('Blob/lookup', { typeNames: ['Note'], ids: [] }))['type']).toBe('unknownDataType');
});

describe('parts of attached messages, each of which is found by reading the message around it', () => {
  let ids: string[];

  beforeAll(async () => {
    const head = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n';
    const text = `${head}${`${'p'.repeat(998)}\r\n`.repeat(30_000)}${'--b\r\n\r\nx\r\n'.repeat(12)}--b--\r\n`;
    const { id } = await upload([{ 'data:asText': text }], { type: 'message/rfc822' });
    ids = Array.from({ length: 12 }, (_, n) => `${id}-${n + 1}`);
  });

  test.each(['Blob/lookup', 'MDN/parse'])('%s reads no more than its budget', async (method) => {
    const named = (some: string[]): Record<string, unknown> =>
      method === 'Blob/lookup' ? { typeNames: ['Email'], ids: some } : { blobIds: some };
    expect(await mine.call(method, named(ids.slice(0, 2)))).toMatchObject({ accountId: mine.accountId });
    expect((await mine.refusal(method, named(ids)))['type']).toBe('requestTooLarge');
  });

  test('Email/import reads no more than its budget', async () => {
    const mailboxIds = { [jmapId('mailbox', mine.inbox)]: true };
    const emails = Object.fromEntries(ids.map((blobId) => [blobId, { blobId, mailboxIds }]));
    const { notCreated } = await mine.call('Email/import', { emails });
    const types = ids.map((id) => (notCreated as Record<string, Shown>)[id]?.['type']);
    expect([types[0], types.at(-1)]).toEqual(['invalidEmail', 'requestTooLarge']);
  });

  test('Email/set reads no more than its budget', async () => {
    const mailboxIds = { [jmapId('mailbox', mine.inbox)]: true };
    const attachments = ids.map((blobId) => ({ blobId, type: 'text/plain' }));
    const { notCreated } = await mine.call('Email/set', { create: { k: { mailboxIds, attachments } } });
    expect(notCreated).toMatchObject({ k: { type: 'requestTooLarge' } });
  });
});

test('blobs of another account are not found', async () => {
  const { id } = await upload([{ 'data:asText': 'abc' }]);
  expect(await theirs.call('Blob/get', { ids: [id] })).toMatchObject({ list: [], notFound: [id] });
  const lookup = { typeNames: ['Email'], ids: [id, email.blobId] };
  expect(await theirs.call('Blob/lookup', lookup)).toMatchObject({ list: [], notFound: [id, email.blobId] });
});

test('a session with two accounts copies blobs between them, within the quota', async () => {
  const { id } = await upload([{ 'data:asText': 'abc' }], { type: 'text/plain' });
  const from = { fromAccountId: mine.accountId };
  expect((await theirs.refusal('Blob/copy', { ...from, blobIds: [id] }))['type']).toBe('fromAccountNotFound');
  const both = new Map([...mine.session.accounts, ...theirs.session.accounts]);
  const wide = { ...theirs, session: { ...theirs.session, accounts: both } };
  Object.assign(theirs.session, { accounts: both });
  const answer = await wide.call('Blob/copy', { ...from, blobIds: [id, 'u9999', `${email.id}-1`] });
  expect(answer).toMatchObject({ notCopied: { u9999: { type: 'notFound' } } });
  const copied = answer['copied'] as Record<string, string>;
  expect(Object.keys(copied)).toEqual([id, `${email.id}-1`]);
  expect(await octetsOf(theirs, copied[id] ?? '')).toEqual(Buffer.from('abc'));
  expect(await octetsOf(theirs, copied[`${email.id}-1`] ?? '')).toEqual(Buffer.from('Grüße\r\n'));
  await theirs.box.store.write(setQuota, { account: theirs.account, bytes: 1 });
  const full = await wide.call('Blob/copy', { ...from, blobIds: [id] });
  expect(full).toMatchObject({ copied: null, notCopied: { [id]: { type: 'overQuota' } } });
});

test('a read-only login cannot create blobs', async () => {
  const accounts = new Map([...mine.session.accounts].map(([id, one]) => [id, { ...one, readOnly: true }]));
  const before = mine.session.accounts;
  Object.assign(mine.session, { accounts });
  expect((await mine.refusal('Blob/upload', { create: {} }))['type']).toBe('accountReadOnly');
  expect((await mine.refusal('Blob/copy', { fromAccountId: mine.accountId, blobIds: [] }))['type']).toBe(
    'accountReadOnly',
  );
  Object.assign(mine.session, { accounts: before });
});
