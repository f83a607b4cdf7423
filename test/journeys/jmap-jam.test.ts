import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { EventReader } from '../support/event-source.ts';
import { type Args, listOf } from '../support/jmap-client.ts';
import { newOrganization, tool } from '../support/mcp.ts';

type Draft = { $ref(path: string): unknown };
type Drafting = Record<'query' | 'get' | 'changes', (args: Args) => Draft>;

/** Types of the third-party client, as far as used here: its own types fail with our compiler settings. */
interface Jam {
  authHeader: string;
  request(call: [method: string, args: Args]): Promise<[Args, unknown]>;
  requestMany(drafts: (t: { Email: Drafting }) => Record<string, Draft>): Promise<[Record<string, Args>, unknown]>;
  getPrimaryAccount(): Promise<string>;
  uploadBlob(account: string, body: string, init: RequestInit): Promise<{ blobId: string }>;
  downloadBlob(blob: { accountId: string; blobId: string; mimeType: string; fileName: string }): Promise<Response>;
  connectEventSource(queried: { types: string[]; ping: number }): Promise<unknown>;
}

const library: string = 'jmap-jam';
const { JamClient } = (await import(library)) as {
  JamClient: new (config: { sessionUrl: string; bearerToken: string }) => Jam;
};

let box: Box;
let me: Person;
let anna: Person;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const { token } = await newOrganization(base, 'Jam');
  const ask = async (name: string, args: object): Promise<Args> => {
    const { status, body, text } = await tool(base, name, args, token);
    if (status >= 300) throw new Error(text);
    return body;
  };
  await ask('add_email_domain', { domain: 'jam.test' });
  await ask('verify_email_domain', { domain: 'jam.test' });
  const open = async (localPart: string): Promise<Person> => {
    await ask('provision_email', { domain: 'jam.test', localPart });
    const address = `${localPart}@jam.test`;
    const profile = (await ask('reveal_email_credentials', { address })) as { jmap: { url: string; token: string } };
    const jam = new JamClient({ sessionUrl: profile.jmap.url, bearerToken: profile.jmap.token });
    return new Person(address, jam, await jam.getPrimaryAccount());
  };
  me = await open('me');
  anna = await open('anna');
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await box[Symbol.asyncDispose]();
});

/** A user of the library. */
class Person {
  readonly address: string;
  readonly jam: Jam;
  readonly account: string;

  constructor(address: string, jam: Jam, account: string) {
    this.address = address;
    this.jam = jam;
    this.account = account;
  }

  async call(name: string, args: Args): Promise<Args> {
    const [said] = await this.jam.request([name, { accountId: this.account, ...args }]);
    return said;
  }

  async mailbox(role: string): Promise<string> {
    const all = listOf(await this.call('Mailbox/get', { ids: null }));
    return String(all.find((one) => one['role'] === role)?.['id']);
  }

  /** The messages of a mailbox, newest first, in one request with a reference. */
  async list(role: string): Promise<Args[]> {
    const accountId = this.account;
    const filter = { inMailbox: await this.mailbox(role) };
    const properties = ['id', 'subject', 'threadId', 'keywords', 'messageId', 'attachments'];
    const [{ emails }] = await this.jam.requestMany((t) => {
      const found = t.Email.query({ accountId, filter, sort: [{ property: 'receivedAt', isAscending: false }] });
      return { found, emails: t.Email.get({ accountId, ids: found.$ref('/ids'), properties }) };
    });
    return listOf(emails);
  }

  async find(role: string, subject: string): Promise<Args> {
    const found = (await this.list(role)).find((one) => one['subject'] === subject);
    return found ?? expect.fail(`no ${subject} in ${role}`);
  }

  /** Creates a draft and sends it; returns the submission id. */
  async send(to: Person, message: Args, envelope?: Args): Promise<string> {
    const drafts = await this.mailbox('drafts');
    const made = await this.call('Email/set', {
      create: {
        d: {
          mailboxIds: { [drafts]: true },
          keywords: { $draft: true, $seen: true },
          from: [{ email: this.address }],
          to: [{ email: to.address }],
          bodyValues: { t: { value: 'Hello.' } },
          textBody: [{ partId: 't', type: 'text/plain' }],
          ...message,
        },
      },
    });
    const [identity] = listOf(await this.call('Identity/get', { ids: null }));
    const sent = await this.call('EmailSubmission/set', {
      create: { s: { identityId: identity?.['id'], emailId: createdId(made, 'd'), ...(envelope && { envelope }) } },
      onSuccessUpdateEmail: {
        '#s': {
          [`mailboxIds/${drafts}`]: null,
          [`mailboxIds/${await this.mailbox('sent')}`]: true,
          'keywords/$draft': null,
        },
      },
    });
    return createdId(sent, 's');
  }
}

function createdId(said: Args, creation: string): string {
  const created = (said['created'] ?? {}) as Record<string, { id: string }>;
  return created[creation]?.id ?? expect.fail(JSON.stringify(said));
}

async function deliver(subject: string, text = 'x'): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'Carl <carl@else.test>', to: me.address, subject, text });
}

test('lists and reads', async () => {
  await deliver('Offer', 'Ten apples for a euro.');
  const shown = await me.find('inbox', 'Offer');
  expect(shown['keywords']).toEqual({});
  const properties = ['textBody', 'bodyValues', 'from'];
  const [read] = listOf(await me.call('Email/get', { ids: [shown['id']], properties, fetchTextBodyValues: true }));
  expect(read?.['from']).toEqual([{ name: 'Carl', email: 'carl@else.test' }]);
  expect(Object.values(read?.['bodyValues'] as object)).toMatchObject([
    { value: expect.stringMatching(/^Ten apples/) },
  ]);
});

test('sends a message with an attachment, which the recipient downloads', async () => {
  const content = 'attached octets '.repeat(10_000);
  const headers = { authorization: me.jam.authHeader, 'content-type': 'application/pdf' };
  const { blobId } = await me.jam.uploadBlob(me.account, content, { headers });
  const attachments = [{ blobId, name: 'a b.pdf', type: 'application/pdf', disposition: 'attachment' }];
  await me.send(anna, { subject: 'With a file', attachments });
  expect(await me.list('drafts')).toEqual([]);
  expect(await me.find('sent', 'With a file')).toMatchObject({ keywords: { $seen: true } });
  const [attached] = (await anna.find('inbox', 'With a file'))['attachments'] as { blobId: string }[];
  expect(attached).toMatchObject({ name: 'a b.pdf', type: 'application/pdf' });
  const blob = { accountId: anna.account, mimeType: 'application/pdf', fileName: 'a b.pdf' };
  const answer = await anna.jam.downloadBlob({ ...blob, blobId: attached?.blobId ?? '' });
  expect(await answer.text()).toBe(content);
});

test('replies in the same thread', async () => {
  const { messageId } = await anna.find('inbox', 'With a file');
  await anna.send(me, { subject: 'Re: With a file', inReplyTo: messageId, references: messageId });
  const { threadId } = await me.find('inbox', 'Re: With a file');
  expect(await me.find('sent', 'With a file')).toMatchObject({ threadId });
  const [thread] = listOf(await me.call('Thread/get', { ids: [threadId] }));
  expect(thread?.['emailIds']).toHaveLength(2);
});

test('cancels a delayed message', async () => {
  const envelope = {
    mailFrom: { email: me.address, parameters: { HOLDFOR: '600' } },
    rcptTo: [{ email: anna.address, parameters: null }],
  };
  const id = await me.send(anna, { subject: 'In anger' }, envelope);
  await me.call('EmailSubmission/set', { update: { [id]: { undoStatus: 'canceled' } } });
  const [submission] = listOf(await me.call('EmailSubmission/get', { ids: [id] }));
  expect(submission).toMatchObject({ undoStatus: 'canceled' });
  expect((await anna.list('inbox')).map((one) => one['subject'])).toEqual(['With a file']);
});

test('searches by sender and subject', async () => {
  const { ids } = await me.call('Email/query', { filter: { from: 'carl', subject: 'offer' } });
  expect(ids).toEqual([(await me.find('inbox', 'Offer'))['id']]);
  expect(await me.call('Email/query', { filter: { from: 'carl', subject: 'file' } })).toMatchObject({ ids: [] });
});

test('gets new mail by push and catches up from its last state', async () => {
  const accountId = me.account;
  const { state: sinceState } = await me.call('Email/get', { ids: [] });
  // Node has no EventSource, and browsers' sends no Authorization: opens the library's URL with fetch.
  const opened = vi.fn();
  vi.stubGlobal('EventSource', opened);
  await me.jam.connectEventSource({ types: ['Email'], ping: 60 });
  const [url] = opened.mock.calls[0] as [URL];
  await using events = await EventReader.open(String(url), { authorization: me.jam.authHeader });
  await deliver('Pushed');
  const told = { changed: { [accountId]: { Email: expect.any(String) } } };
  expect(await events.next()).toMatchObject({ event: 'state', data: told });
  const [{ changes, emails }] = await me.jam.requestMany((t) => {
    const changes = t.Email.changes({ accountId, sinceState });
    return { changes, emails: t.Email.get({ accountId, ids: changes.$ref('/created'), properties: ['subject'] }) };
  });
  expect(changes).toMatchObject({ oldState: sinceState, hasMoreChanges: false, destroyed: [] });
  expect(listOf(emails).map((one) => one['subject'])).toEqual(['Pushed']);
  const unknown = me.call('Email/changes', { sinceState: 'zzz' });
  await expect(unknown).rejects.toMatchObject({ type: 'cannotCalculateChanges' });
});
