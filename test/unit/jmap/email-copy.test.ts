import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CreatedEmail } from '../../../mail/jmap/email-set/email-storage.ts';
import { accountId, jmapId } from '../../../mail/jmap/core/ids.ts';
import { setQuota } from '../../../mail/store/account/account.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { create, octetsOf, parseTestMessage, seenByImap } from '../../support/jmap-emails.ts';
import { type JmapFixture, createJmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount } from '../../support/store.ts';

let mine: JmapFixture;
let theirs: JmapFixture;
let inbox: string;
let original: CreatedEmail;

beforeAll(async () => {
  mine = await createJmapFixture();
  const other = await testAccount(mine.box.store, 'other');
  theirs = jmapFixtureOn(mine.box, { ...other, address: 'other@box.test' });
  // One login with access to both accounts.
  const both = new Map([...mine.session.accounts, ...theirs.session.accounts]);
  for (const fixture of [mine, theirs]) Object.assign(fixture.session, { accounts: both });
  inbox = jmapId('mailbox', theirs.inbox);
});
afterAll(() => mine[Symbol.asyncDispose]());
beforeEach(async () => {
  const bodyValues = { t: { value: 'Grüße\n' } };
  const keywords = { $seen: true, mineonly: true };
  const receivedAt = '2025-01-02T03:04:05Z';
  original = await create(mine, { subject: 'Über', textBody: [{ partId: 't' }], bodyValues, keywords, receivedAt });
});

const copyArgs = (one: object, more: object = {}): Record<string, unknown> => ({
  fromAccountId: mine.accountId,
  create: { k: { id: original.id, mailboxIds: { [inbox]: true }, ...one } },
  ...more,
});

async function received(id: string): Promise<number | undefined> {
  const row = Number.parseInt(id.slice(1), 36) + theirs.account * 2 ** 32;
  const ask = query('received', (rx) =>
    rx.get<{ received_at: number }>('SELECT received_at FROM email WHERE id = ?', row),
  );
  return (await mine.box.store.read(ask, {}))?.received_at;
}

test('a copy has the octets, keywords and time of the original, and the original remains', async () => {
  const answer = await theirs.call('Email/copy', copyArgs({}));
  expect(answer).toMatchObject({ fromAccountId: mine.accountId, accountId: theirs.accountId, notCreated: null });
  expect(answer['newState']).not.toBe(answer['oldState']);
  const { k } = answer['created'] as { k: CreatedEmail };
  expect(Object.keys(k).sort()).toEqual(['blobId', 'id', 'size', 'threadId']);
  const octets = await octetsOf(theirs, k.blobId);
  expect(octets).toEqual(await octetsOf(mine, original.blobId));
  expect(k.size).toBe(octets.length);
  expect(parseTestMessage(octets).text('1')).toBe('Grüße\r\n');
  expect((await seenByImap(theirs)).get(k.id)).toEqual(new Map([[inbox, ['\\Seen', 'mineonly']]]));
  expect(await received(k.id)).toBe(Date.UTC(2025, 0, 2, 3, 4, 5));
  expect((await seenByImap(mine)).has(original.id)).toBe(true);
});

test('given properties replace those of the original', async () => {
  const given = { keywords: { $flagged: true }, receivedAt: '2024-01-01T00:00:00Z' };
  const { created } = await theirs.call('Email/copy', copyArgs(given));
  const { k } = created as { k: CreatedEmail };
  expect((await seenByImap(theirs)).get(k.id)).toEqual(new Map([[inbox, ['\\Flagged']]]));
  expect(await received(k.id)).toBe(Date.UTC(2024, 0, 1));
});

test('a later reply joins the thread of the copy', async () => {
  const messageId = ['thread@box.test'];
  const first = await create(mine, { subject: 'T', messageId });
  const { created } = await theirs.call('Email/copy', copyArgs({ id: first.id }));
  const reply = await create(theirs, {
    subject: 'Re: T',
    inReplyTo: messageId,
    mailboxIds: { [inbox]: true },
  });
  expect(reply.threadId).toBe((created as { k: CreatedEmail }).k.threadId);
});

test('onSuccessDestroyOriginal destroys the originals, in a separate response', async () => {
  const args = { accountId: theirs.accountId, ...copyArgs({}, { onSuccessDestroyOriginal: true }) };
  const { methodResponses } = await mine.request([['Email/copy', args, 'c']]);
  expect(methodResponses).toMatchObject([
    ['Email/copy', { created: { k: {} } }, 'c'],
    ['Email/set', { accountId: mine.accountId, destroyed: [original.id] }, 'c'],
  ]);
  expect((await seenByImap(mine)).has(original.id)).toBe(false);
  const nothing = { ...args, create: { k: { id: 'mzzz', mailboxIds: { [inbox]: true } } } };
  expect((await mine.request([['Email/copy', nothing, 'c']])).methodResponses.length).toBe(1);
  const again = { ...args, create: {}, destroyFromIfInState: '1' };
  expect((await mine.request([['Email/copy', again, 'c']])).methodResponses.length).toBe(1);
});

test('destroyFromIfInState keeps originals when something else changed', async () => {
  const more = { onSuccessDestroyOriginal: true, destroyFromIfInState: '1' };
  const args = { accountId: theirs.accountId, ...copyArgs({}, more) };
  const { methodResponses } = await mine.request([['Email/copy', args, 'c']]);
  expect(methodResponses[1]).toMatchObject(['error', { type: 'stateMismatch' }, 'c']);
  expect((await seenByImap(mine)).has(original.id)).toBe(true);
});

test.each<[string, () => Record<string, unknown>, object]>([
  ['the same account', () => ({ ...copyArgs({}), fromAccountId: theirs.accountId }), { type: 'invalidArguments' }],
  ['an unknown account', () => ({ ...copyArgs({}), fromAccountId: 'mbx_99' }), { type: 'fromAccountNotFound' }],
  ['no account', () => ({ create: {} }), { type: 'invalidArguments' }],
  ['an old state', () => copyArgs({}, { ifInState: '1' }), { type: 'stateMismatch' }],
  ['an old state of the source', () => copyArgs({}, { ifFromInState: '1' }), { type: 'stateMismatch' }],
])('refused: %s', async (_what, args, error) => {
  expect(await theirs.refusal('Email/copy', args())).toMatchObject(error);
});

test('an account of another login is not found', async () => {
  const { account, inbox: third } = await testAccount(mine.box.store, 'third');
  const args = { ...copyArgs({ mailboxIds: { [jmapId('mailbox', third)]: true } }), accountId: accountId(account) };
  expect(await mine.refusal('Email/copy', args)).toMatchObject({ type: 'accountNotFound' });
});

test.each<[string, object, object]>([
  ['an email that is not there', { id: 'mzzzz' }, { type: 'notFound' }],
  ['what is no id', { id: 'not an id' }, { type: 'invalidProperties', properties: ['id'] }],
  ['no mailbox', { mailboxIds: {} }, { type: 'invalidProperties', properties: ['mailboxIds'] }],
  ['a mailbox of nobody', { mailboxIds: { fzzzz: true } }, { type: 'invalidProperties', properties: ['mailboxIds'] }],
  ['another subject', { subject: 'x' }, { type: 'invalidProperties', properties: ['subject'] }],
  ['a keyword that is none', { keywords: { 'a b': true } }, { type: 'invalidProperties', properties: ['keywords'] }],
])('not made: %s', async (_what, one, error) => {
  const answer = await theirs.call('Email/copy', copyArgs(one));
  expect(answer).toMatchObject({ created: null, notCreated: { k: { ...error, description: expect.any(String) } } });
});

test('a mailbox of the source account is unknown in the target account', async () => {
  const answer = await theirs.call('Email/copy', copyArgs({ mailboxIds: { [jmapId('mailbox', mine.inbox)]: true } }));
  expect(answer['notCreated']).toMatchObject({ k: { properties: ['mailboxIds'] } });
});

test('no room', async () => {
  await mine.box.store.write(setQuota, { account: theirs.account, bytes: 1 });
  expect((await theirs.call('Email/copy', copyArgs({})))['notCreated']).toMatchObject({ k: { type: 'overQuota' } });
  await mine.box.store.write(setQuota, { account: theirs.account, bytes: null });
});
