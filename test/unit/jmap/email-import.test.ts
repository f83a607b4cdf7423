import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedEmail } from '../../../mail/jmap/email-set/email-storage.ts';
import type { SetError } from '../../../mail/jmap/core/errors.ts';
import { jmapId, jmapRow } from '../../../mail/jmap/core/ids.ts';
import { setQuota } from '../../../mail/store/account/account.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { create, octetsOf, seenByImap, upload } from '../../support/jmap-emails.ts';
import { type JmapFixture, createJmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount } from '../../support/store.ts';

let fixture: JmapFixture;
let inbox: string;
beforeAll(async () => {
  fixture = await createJmapFixture();
  inbox = jmapId('mailbox', fixture.inbox);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const MESSAGE = [
  'Received: from a by b; Thu, 02 Jan 2025 05:04:05 +0200',
  'Received: from c by a; Wed, 01 Jan 2025 00:00:00 +0000',
  'From: a@b.test',
  'Subject: Imported',
  '',
  'Text.',
  '',
].join('\r\n');

const imported = async (one: object, at = fixture): Promise<CreatedEmail> => {
  const answer = await at.call('Email/import', { emails: { k: { mailboxIds: { [inbox]: true }, ...one } } });
  const made = (answer['created'] as { k: CreatedEmail } | null)?.k;
  if (made === undefined) throw new Error(JSON.stringify(answer['notCreated']));
  expect(answer['newState']).not.toBe(answer['oldState']);
  return made;
};
const refused = async (one: object, at = fixture): Promise<SetError | undefined> => {
  const answer = await at.call('Email/import', { emails: { k: { mailboxIds: { [inbox]: true }, ...one } } });
  expect(answer['created']).toBeNull();
  expect(answer['newState']).toBe(answer['oldState']);
  return (answer['notCreated'] as { k: SetError }).k;
};
const receivedAt = async (id: string): Promise<number | undefined> => {
  const ask = query('received', (rx, input: { row: number }) =>
    rx.get<{ received_at: number }>('SELECT received_at FROM email WHERE id = ?', input.row),
  );
  return (await fixture.box.store.read(ask, { row: jmapRow('email', fixture.account, id) ?? 0 }))?.received_at;
};

test('an upload becomes an email with the same octets and the requested properties', async () => {
  const made = await imported({ blobId: await upload(fixture, MESSAGE), keywords: { $seen: true, New: true } });
  expect(Object.keys(made).sort()).toEqual(['blobId', 'id', 'size', 'threadId']);
  expect((await octetsOf(fixture, made.blobId)).toString()).toBe(MESSAGE);
  expect(made.size).toBe(MESSAGE.length);
  expect((await seenByImap(fixture)).get(made.id)).toEqual(new Map([[inbox, ['\\Seen', 'new']]]));
});

test('receivedAt is the given time, else that of the newest Received field, else now', async () => {
  const blobId = await upload(fixture, MESSAGE);
  const given = await imported({ blobId, receivedAt: '2020-02-02T00:00:00Z' });
  expect(await receivedAt(given.id)).toBe(Date.UTC(2020, 1, 2));
  expect(await receivedAt((await imported({ blobId })).id)).toBe(Date.UTC(2025, 0, 2, 3, 4, 5));
  const bare = await imported({ blobId: await upload(fixture, 'Subject: x\r\n\r\n') });
  expect(await receivedAt(bare.id)).toBe(fixture.box.clock.now);
});

test('bare LF becomes CRLF, and an mbox line before the header is accepted', async () => {
  const made = await imported({ blobId: await upload(fixture, 'From joe Sat Nov 21\nSubject: x\n\na\rb\n') });
  expect((await octetsOf(fixture, made.blobId)).toString()).toBe('From joe Sat Nov 21\r\nSubject: x\r\n\r\na\r\nb\r\n');
});

test('messages and attached messages can be imported', async () => {
  const inner = await imported({ blobId: await upload(fixture, MESSAGE) });
  const outer = await create(fixture, { attachments: [{ blobId: inner.blobId }] });
  for (const blobId of [inner.blobId, `${outer.id}-1`]) {
    const again = await imported({ blobId });
    expect(again.id).not.toBe(inner.id);
    expect((await octetsOf(fixture, again.blobId)).toString()).toBe(MESSAGE);
  }
});

test('large messages are stored in a file', async () => {
  const large = `${MESSAGE}${'line\r\n'.repeat(200_000)}`;
  const made = await imported({ blobId: await upload(fixture, large) });
  expect((await octetsOf(fixture, made.blobId)).toString('latin1')).toBe(large);
});

test('several imports put messages into several mailboxes', async () => {
  const blobId = await upload(fixture, MESSAGE);
  const one = { blobId, mailboxIds: { [inbox]: true } };
  const answer = await fixture.call('Email/import', { emails: { a: one, b: one, c: { ...one, blobId: 'u9999' } } });
  expect(answer).toMatchObject({ created: { a: {}, b: {} }, notCreated: { c: { type: 'invalidProperties' } } });
});

test.each<[string, string, object]>([
  ['nothing', '', { type: 'invalidEmail' }],
  ['words', 'this is not an email', { type: 'invalidEmail' }],
  ['a picture', '\x89PNG\r\n\x1a\n\0\0', { type: 'invalidEmail' }],
  ['a body without header', '\r\nSubject: x\r\n', { type: 'invalidEmail' }],
])('%s is no message', async (_what, octets, error) => {
  expect(await refused({ blobId: await upload(fixture, octets) })).toMatchObject(error);
});

test.each<[string, object, string]>([
  ['a blob that is not there', { blobId: 'u12345' }, 'blobId'],
  ['no blob', {}, 'blobId'],
  ['a number for a blob', { blobId: 5 }, 'blobId'],
  ['no mailbox', { mailboxIds: {} }, 'mailboxIds'],
  ['an unknown mailbox', { mailboxIds: { fzzz: true } }, 'mailboxIds'],
  ['a keyword that is none', { keywords: { 'a b': true } }, 'keywords'],
  ['a time that is none', { receivedAt: 'today' }, 'receivedAt'],
  ['something else', { subject: 'x' }, 'subject'],
])('refused: %s', async (_what, one, property) => {
  const blobId = await upload(fixture, MESSAGE);
  const email = 'blobId' in one || _what === 'no blob' ? one : { blobId, ...one };
  expect(await refused(email)).toMatchObject({ type: 'invalidProperties', properties: [property] });
});

test('a blob of another account is refused like an unknown one', async () => {
  const other = await testAccount(fixture.box.store, 'other');
  const foreign = jmapFixtureOn(fixture.box, { ...other, address: 'other@box.test' });
  const theirs = await upload(foreign, MESSAGE);
  const letter = await create(foreign, {});
  const none = await refused({ blobId: 'u99999' });
  expect(await refused({ blobId: theirs })).toEqual(none);
  expect(await refused({ blobId: letter.id.replace(/.$/, 'zzzz') })).toEqual(none);
});

test('a message over the size limit or over quota is refused', async () => {
  await using lone = await createJmapFixture();
  const where = { mailboxIds: { [jmapId('mailbox', lone.inbox)]: true } };
  const blobId = await upload(lone, `Subject: x\r\n\r\n${'x\n'.repeat(5_000)}`);
  Object.assign(lone.context, { maxMessageBytes: 9_000 });
  expect(await refused({ ...where, blobId }, lone)).toMatchObject({ type: 'tooLarge' });
  // Octets added by line end conversion count too.
  Object.assign(lone.context, { maxMessageBytes: 12_000 });
  expect(await refused({ ...where, blobId }, lone)).toMatchObject({ type: 'tooLarge' });
  Object.assign(lone.context, { maxMessageBytes: 20_000 });
  await lone.box.store.write(setQuota, { account: lone.account, bytes: 12_000 });
  expect(await refused({ ...where, blobId }, lone)).toMatchObject({ type: 'overQuota' });
  await lone.box.store.write(setQuota, { account: lone.account, bytes: 9_000 });
  expect(await refused({ ...where, blobId }, lone)).toMatchObject({ type: 'overQuota' });
  expect((await seenByImap(lone)).size).toBe(0);
});

test('an old ifInState and too many objects are refused', async () => {
  expect(await fixture.refusal('Email/import', { ifInState: '1', emails: {} })).toMatchObject({
    type: 'stateMismatch',
  });
  const emails = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`k${i}`, {}]));
  expect(await fixture.refusal('Email/import', { emails })).toMatchObject({ type: 'requestTooLarge' });
});
