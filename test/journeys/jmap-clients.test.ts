import { createHash } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { JmapClient, listOf, MAIL, ref } from '../support/jmap-client.ts';
import { AccountCopy } from '../support/jmap-copy.ts';
import { JmapMailbox } from '../support/jmap-mailbox.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const ANNA = 'anna@box.test';

let box: Box;
let me: JmapMailbox;
let anna: JmapMailbox;

beforeAll(async () => {
  box = await startBox();
  await box.ask('add_mailbox', { address: ANNA, password: box.password });
  me = await open(box.address);
  anna = await open(ANNA);
});
afterAll(() => box[Symbol.asyncDispose]());

const base = (): string => `http://127.0.0.1:${box.port('http')}`;

async function open(user: string): Promise<JmapMailbox> {
  return JmapMailbox.open(await JmapClient.discover(base(), { user, password: box.password }));
}

async function deliver(subject: string, text = 'x'): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'Carl <carl@else.test>', to: box.address, subject, text });
}

const subjects = async (mailbox: JmapMailbox, role: string): Promise<unknown[]> =>
  (await mailbox.find({ inMailbox: mailbox.in(role) })).map((one) => one['subject']);

test('autodiscovery finds the session with address and password', () => {
  const { session } = me.client;
  expect(session.username).toBe(box.address);
  for (const [uri, account] of Object.entries(session.primaryAccounts)) {
    expect(session.accounts[account]?.accountCapabilities).toHaveProperty([uri]);
  }
  expect([...me.roles.keys()]).toEqual(expect.arrayContaining(['inbox', 'drafts', 'sent', 'trash', 'junk', 'archive']));
  expect(session.accounts[me.client.account]?.accountCapabilities[MAIL]).toHaveProperty('emailQuerySortOptions');
});

test('one request returns mailbox, messages and threads', async () => {
  await deliver('Offer', 'Ten apples for a euro.');
  const got = await me.client.calls([
    ['Mailbox/query', { filter: { role: 'inbox' } }, 'm'],
    ['Mailbox/get', { '#ids': ref('m', 'Mailbox/query', '/ids') }, 'box'],
    ['Email/query', { filter: { inMailbox: me.in('inbox') }, collapseThreads: true, limit: 10 }, 'q'],
    ['Email/get', { '#ids': ref('q', 'Email/query', '/ids'), properties: ['threadId'] }, 't'],
    ['Thread/get', { '#ids': ref('t', 'Email/get', '/list/*/threadId') }, 'th'],
    ['Email/get', { '#ids': ref('th', 'Thread/get', '/list/*/emailIds'), properties: ['subject', 'preview'] }, 'g'],
  ]);
  expect(got['box']?.['list']).toMatchObject([{ role: 'inbox', totalEmails: 1, unreadEmails: 1, unreadThreads: 1 }]);
  expect(got['g']?.['list']).toMatchObject([{ subject: 'Offer', preview: 'Ten apples for a euro.' }]);
});

test('a message marked as read is \\Seen in IMAP', async () => {
  const id = await me.named('inbox', 'Offer');
  const list = listOf(await me.client.call('Email/get', { ids: [id], fetchTextBodyValues: true }));
  expect(list).toMatchObject([{ from: [{ name: 'Carl', email: 'carl@else.test' }], keywords: {}, attachments: [] }]);
  expect(Object.values(list[0]?.['bodyValues'] as object)).toMatchObject([
    { value: expect.stringMatching(/^Ten apples/) },
  ]);
  await me.update(id, { 'keywords/$seen': true });
  using imap = await MailboxReader.open(box.port('imap'), box.address, box.password);
  await imap.command('EXAMINE INBOX');
  expect(String(await imap.command('FETCH 1 FLAGS'))).toContain(String.raw`\Seen`);
});

test('a message with an attachment is created and sent in one request, and arrives unchanged', async () => {
  const content = Buffer.alloc(300_000, 'Ünïcode and octets \0\xff', 'latin1');
  const { blobId, size } = await me.client.upload(content, 'application/pdf');
  expect(size).toBe(content.length);
  const draft = me.composed({
    from: box.address,
    to: ANNA,
    subject: 'Übersicht für Anna',
    text: 'Here it is — 10 €.\n',
    attachments: [{ blobId, name: 'Übersicht.pdf', type: 'application/pdf' }],
  });
  const said = await me.client.calls([['Email/set', { create: { d: draft } }, 'd'], me.sending('#d')]);
  // The last response under the id of the submission is the implicit Email/set.
  expect(Object.keys(said['s']?.['updated'] as object)).toHaveLength(1);
  expect([await subjects(me, 'drafts'), await subjects(me, 'sent')]).toEqual([[], ['Übersicht für Anna']]);

  const id = await anna.named('inbox', 'Übersicht für Anna');
  const [mail] = listOf(await anna.client.call('Email/get', { ids: [id], fetchTextBodyValues: true }));
  expect(mail).toMatchObject({
    hasAttachment: true,
    attachments: [{ name: 'Übersicht.pdf', type: 'application/pdf' }],
  });
  expect(Object.values(mail?.['bodyValues'] as object)).toMatchObject([{ value: 'Here it is — 10 €.\n' }]);
  const [attached] = (mail?.['attachments'] ?? []) as { blobId: string }[];
  const down = await anna.client.download(attached?.blobId ?? '', 'Übersicht.pdf', 'application/pdf');
  expect(hash(down)).toBe(hash(content));
});

test('a reply is in the thread of the original, on both sides', async () => {
  const id = await anna.named('inbox', 'Übersicht für Anna');
  const [answered] = listOf(await anna.client.call('Email/get', { ids: [id], properties: ['messageId'] }));
  const [inReplyTo] = (answered?.['messageId'] ?? []) as string[];
  const subject = 'Re: Übersicht für Anna';
  const reply = { from: ANNA, to: box.address, subject, text: 'Thanks!', inReplyTo: String(inReplyTo) };
  await anna.send(await anna.draft(reply));
  await anna.update(id, { 'keywords/$answered': true });
  for (const side of [me, anna]) {
    const where = side === me ? 'inbox' : 'sent';
    const got = await side.client.calls([
      ['Email/get', { ids: [await side.named(where, subject)], properties: ['threadId'] }, 'e'],
      ['Thread/get', { '#ids': ref('e', 'Email/get', '/list/*/threadId') }, 't'],
      ['Email/get', { '#ids': ref('t', 'Thread/get', '/list/*/emailIds'), properties: ['subject'] }, 'g'],
    ]);
    const shown = listOf(got['g']).map((one) => one['subject']);
    expect(shown).toEqual(['Übersicht für Anna', subject]);
  }
});

test('a delayed message is canceled and not sent', async () => {
  const email = await me.draft({ from: box.address, to: ANNA, subject: 'In anger', text: 'x' });
  const envelope = {
    mailFrom: { email: box.address, parameters: { HOLDFOR: '600' } },
    rcptTo: [{ email: ANNA, parameters: null }],
  };
  const { id, undoStatus } = await me.send(email, { envelope });
  expect(undoStatus).toBe('pending');
  const said = await me.client.call('EmailSubmission/set', { update: { [String(id)]: { undoStatus: 'canceled' } } });
  expect(Object.keys(said['updated'] as object)).toEqual([id]);
  expect(listOf(await me.client.call('EmailSubmission/get', { ids: [id] }))).toMatchObject([
    { undoStatus: 'canceled' },
  ]);
  expect(await subjects(anna, 'inbox')).toEqual(['Übersicht für Anna']);
});

test('a search finds words in the text and highlights them', async () => {
  await deliver('Minutes', 'We talked about <quinces> & pears.');
  const found = await eventually(async () => {
    const filter = { text: 'quinces' };
    const got = await me.client.calls([
      ['Email/query', { filter }, 'q'],
      ['SearchSnippet/get', { filter, '#emailIds': ref('q', 'Email/query', '/ids') }, 's'],
    ]);
    const list = listOf(got['s']);
    return list.length > 0 ? list : undefined;
  });
  expect(found).toMatchObject([{ preview: expect.stringContaining('&lt;<mark>quinces</mark>&gt; &amp; pears') }]);
});

test('new mail and flags of other clients are pushed, and the copy follows', async () => {
  const copy = new AccountCopy(me.client);
  await copy.sync();
  expect(copy.fetched).toBe(2);
  await using events = await me.client.events(['Email', 'Mailbox']);
  await deliver('Pushed');
  const event = await events.next();
  expect(event).toMatchObject({ event: 'state', data: { '@type': 'StateChange' } });
  await copy.sync();
  expect([...copy.emails.values()].map((one) => one['subject'])).toContain('Pushed');
  expect(copy.emails.get(copy.order[0] ?? '')).toMatchObject({ subject: 'Pushed' });
  expect(copy.fetched).toBe(2);
});

test('an offline client gets up to date by changes, or fetches all if its state is too old', async () => {
  const copy = new AccountCopy(me.client);
  await copy.sync();
  using imap = await MailboxReader.open(box.port('imap'), box.address, box.password);
  for (let i = 0; i < 12; i++) await deliver(`Missed ${i}`);
  await imap.command('SELECT INBOX');
  await imap.command('STORE 1:* +FLAGS (\\Flagged)');
  await imap.command('CREATE Projects');
  await imap.command('MOVE 2:3 Projects');
  await imap.command('STORE 1 +FLAGS (\\Deleted)');
  await imap.command('EXPUNGE');
  await me.update(await me.named('inbox', 'Missed 4'), { mailboxIds: { [me.in('archive')]: true } });
  await me.set({ destroy: [await me.named('inbox', 'Missed 5')] });

  const fresh = new AccountCopy(me.client);
  await Promise.all([copy.sync(), fresh.sync()]);
  expect(copy.content).toEqual(fresh.content);
  expect(copy.fetched).toBe(2);

  const ancient = new AccountCopy(me.client, { Mailbox: 'zzz', Email: 'zzz', query: 'zzz' });
  await ancient.sync();
  expect(ancient.content).toEqual(fresh.content);
});

const hash = (octets: Buffer): string => createHash('sha256').update(octets).digest('hex');

/** Retries, since indexing follows the commit. */
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const late = AbortSignal.timeout(10_000);
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    late.throwIfAborted();
  }
}
