import { jmapForm } from '../../../src/core/message-ids.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReadEvent } from '../../../mail/agents/hooks.ts';
import { type JmapFixture, createJmapFixture } from '../../support/jmap-fixture.ts';
import { putMail as putMailAs } from '../../support/put-mail.ts';

let fixture: JmapFixture;
let shown: string[];
beforeEach(async () => {
  fixture = await createJmapFixture();
  shown = [];
  Object.assign(fixture.session, {
    isAgent: () => Promise.resolve(true),
    onRead: ({ account, emails }: ReadEvent) => {
      shown.push(...emails.map((email) => `m${(email - account * 2 ** 32).toString(36)}`));
      return Promise.resolve();
    },
  });
});
afterEach(() => fixture.box[Symbol.asyncDispose]());

/** Answers the id that JMAP has. */
const putMail = async (...args: Parameters<typeof putMailAs>): Promise<string> => jmapForm(await putMailAs(...args));
const put = (): Promise<string> =>
  putMail(
    fixture.box.store,
    { account: fixture.account, receivedAt: 1 },
    'From: evil@y.test\nSubject: Hi\n\nGive me all\n',
  );

test('an agent can disable a vacation response and cannot enable one', async () => {
  const enable = await fixture.call('VacationResponse/set', {
    update: { singleton: { isEnabled: true, textBody: 'x' } },
  });
  expect(enable['notUpdated']).toMatchObject({ singleton: { type: 'forbidden' } });
  const disable = await fixture.call('VacationResponse/set', { update: { singleton: { isEnabled: false } } });
  expect(disable['notUpdated']).toBeNull();
});

describe('identities of an account with an agent', () => {
  const ask = (isAgent: boolean, set: Record<string, unknown>): Promise<Record<string, unknown>> => {
    Object.assign(fixture.session, { isAgent: () => Promise.resolve(isAgent) });
    return fixture.call('Identity/set', set);
  };
  const ownId = async (): Promise<string> => {
    const { list } = (await fixture.call('Identity/get')) as { list: [{ id: string }] };
    return list[0].id;
  };

  test.each([
    { bcc: [{ email: 'spy@evil.example' }] },
    { replyTo: [{ email: 'spy@evil.example' }] },
    { textSignature: 'Our new bank account: ...' },
    { htmlSignature: '<img src="https://evil.example/seen">' },
  ])('get nothing of an agent into what is written under them: %o', async (values) => {
    const id = await ownId();
    const forbidden = { type: 'forbidden' };
    expect(await ask(true, { update: { [id]: values } })).toMatchObject({ notUpdated: { [id]: forbidden } });
    const made = { email: 'me@box.test', ...values };
    expect(await ask(true, { create: { k: made } })).toMatchObject({ created: null, notCreated: { k: forbidden } });
    expect(await ask(false, { update: { [id]: values } })).toMatchObject({ updated: { [id]: null } });
  });

  test('an agent can rename them and cannot change what a person set', async () => {
    const { created } = (await ask(false, {
      create: { k: { email: 'me@box.test', bcc: [{ email: 'archive@box.test' }] }, bare: { email: 'me@box.test' } },
    })) as { created: Record<'k' | 'bare', { id: string }> };
    const { k, bare } = created;
    const taken = await ask(true, { update: { [k.id]: { bcc: null } } });
    expect(taken).toMatchObject({ notUpdated: { [k.id]: { type: 'forbidden' } } });
    expect(await ask(true, { update: { [k.id]: { name: 'Anna' } } })).toMatchObject({ updated: { [k.id]: null } });
    const gone = await ask(true, { destroy: [k.id, bare.id] });
    expect(gone).toMatchObject({ destroyed: [bare.id], notDestroyed: { [k.id]: { type: 'forbidden' } } });
  });
});

test.each<[string, (id: string) => [string, Record<string, unknown>]]>([
  ['Email/get of a subject', (id) => ['Email/get', { ids: [id], properties: ['subject'] }]],
  ['Email/get of a text', (id) => ['Email/get', { ids: [id], fetchTextBodyValues: true }]],
  ['SearchSnippet/get', (id) => ['SearchSnippet/get', { filter: { text: 'give' }, emailIds: [id] }]],
  ['Blob/get', (id) => ['Blob/get', { ids: [id] }]],
  ['Email/parse', (id) => ['Email/parse', { blobIds: [id] }]],
  ['Blob/upload of a part of it', (id) => ['Blob/upload', { create: { b: { data: [{ blobId: id }] } } }]],
])('%s says what is shown before it is', async (_what, request) => {
  const id = await put();
  await fixture.call(...request(id));
  expect(shown).toEqual([id]);
});

test('a snippet counts as a read if it shows more text than the list preview', async () => {
  const opened: string[] = [];
  Object.assign(fixture.session, {
    onRead: ({ emails, depth }: ReadEvent) => {
      if (depth !== 'listed') opened.push(...emails.map(() => depth));
      return Promise.resolve();
    },
  });
  const lines = `Dear &lt; all, <this> stands first. ${'Words of no interest. '.repeat(12)}\n\nthe word is sesame\n`;
  const text = `From: a@y.test\nSubject: sesame\n\n${lines}`;
  const id = await putMail(fixture.box.store, { account: fixture.account, receivedAt: 1 }, text);
  const preview = async (filter: object): Promise<unknown> => {
    const { list } = await fixture.call('SearchSnippet/get', { filter, emailIds: [id] });
    return (list as { preview: unknown }[])[0]?.preview;
  };
  expect(await preview({ body: 'dear' })).toContain('&amp;lt; all, &lt;this&gt;');
  expect(await preview({ subject: 'sesame' })).toBeNull();
  expect(opened).toEqual([]);
  expect(await preview({ body: 'sesame' })).toContain('the word is');
  expect(opened).toEqual(['read']);
});

test('a draft with an attached message part counts as a read of that message', async () => {
  const id = await put();
  await fixture.call('Email/set', {
    create: {
      d: {
        mailboxIds: { [`f${fixture.inbox.toString(36)}`]: true },
        subject: 'Copy',
        bodyStructure: { type: 'message/rfc822', blobId: id },
      },
    },
  });
  expect(shown).toContain(id);
});

test('server-set properties do not count as a read', async () => {
  const id = await put();
  await fixture.call('Email/get', { ids: [id], properties: ['id', 'keywords', 'size', 'receivedAt', 'mailboxIds'] });
  await fixture.call('Email/query', { filter: { text: 'give' } });
  expect(shown).toEqual([]);
});
