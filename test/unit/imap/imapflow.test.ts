import { once } from 'node:events';
import { ImapFlow } from 'imapflow';
import { expect, test } from 'vitest';
import { imapWorld, PASSWORD, USER } from '../../support/imap-world.ts';
import type { ImapWorld } from '../../support/imap-world.ts';

async function flow(world: ImapWorld): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: world.tlsPort,
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user: USER, pass: PASSWORD },
    logger: false,
  });
  await client.connect();
  return client;
}

const MIXED = [
  'From: Ann <ann@remote.example>',
  'To: me@box.test',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Date: Mon, 1 Jun 2026 10:00:00 +0200',
  'Message-ID: <1@remote.example>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Hello',
  '--b',
  'Content-Type: application/pdf; name=a.pdf',
  'Content-Disposition: attachment; filename=a.pdf',
  'Content-Transfer-Encoding: base64',
  '',
  'JVBERi0=',
  '--b--',
  '',
].join('\r\n');

test('imapflow lists, reads, searches, flags, moves and appends', async () => {
  await using world = await imapWorld({ local: false });
  world.store.deliver('INBOX', MIXED);
  world.store.deliver('INBOX', 'From: bob@remote.example\nSubject: second\n\nText\n', ['\\Seen']);
  const client = await flow(world);

  const folders = await client.list({ statusQuery: { messages: true, unseen: true } });
  expect(folders.map(({ path, specialUse }) => [path, specialUse])).toEqual([
    ['INBOX', '\\Inbox'],
    ['Sent', '\\Sent'],
    ['Drafts', '\\Drafts'],
    ['Archive', '\\Archive'],
    ['Junk', '\\Junk'],
    ['Trash', '\\Trash'],
  ]);
  expect(folders[0]?.status).toMatchObject({ messages: 2, unseen: 1 });

  const inbox = await client.mailboxOpen('INBOX');
  expect([inbox.exists, inbox.uidNext, inbox.readOnly]).toEqual([2, 3, false]);

  const first = await client.fetchOne('1', {
    envelope: true,
    bodyStructure: true,
    source: true,
    flags: true,
    size: true,
  });
  if (!first) throw new Error('nothing fetched');
  expect(first.envelope?.subject).toBe('Grüße');
  expect(first.envelope?.from?.[0]).toMatchObject({ name: 'Ann', address: 'ann@remote.example' });
  expect(first.bodyStructure?.childNodes?.map(({ type }) => type)).toEqual(['text/plain', 'application/pdf']);
  expect(first.source?.toString()).toBe(MIXED);
  expect(first.size).toBe(MIXED.length);

  const { content } = await client.download('1', '2');
  const [pdf] = (await content?.toArray()) ?? [];
  expect(String(pdf)).toBe('%PDF-');

  expect(await client.search({ from: 'bob' }, { uid: true })).toEqual([2]);
  expect(await client.search({ seen: false })).toEqual([1]);
  expect(await client.search({ subject: 'grüße' }, { uid: true })).toEqual([1]);

  await client.messageFlagsAdd('1', ['\\Flagged', '$Label1']);
  const flagged = await client.fetchOne('1', { flags: true });
  expect([...((flagged && flagged.flags) || [])].sort()).toEqual(['$Label1', '\\Flagged']);

  const moved = await client.messageMove('2', 'Archive', { uid: true });
  expect([...((moved && moved.uidMap) || [])]).toEqual([[2, 1]]);
  const appended = await client.append('Drafts', MIXED, ['\\Draft'], new Date('2026-06-01T00:00:00Z'));
  expect(appended && appended.uid).toBe(1);
  await client.messageDelete('1', { uid: true });
  expect(await client.status('INBOX', { messages: true })).toMatchObject({ messages: 0 });
  await client.mailboxCreate('Ordner/Grüße & Küsse');
  expect(world.store.find('Ordner/Grüße & Küsse')).toBeDefined();
  await client.logout();
});

test('imapflow is informed of a new message while it idles', async () => {
  await using world = await imapWorld({ local: false });
  const client = await flow(world);
  await client.mailboxOpen('INBOX');
  const idling = client.idle();
  const told = once(client, 'exists');
  world.store.deliver('INBOX', MIXED);
  expect((await told)[0]).toMatchObject({ path: 'INBOX', count: 1, prevCount: 0 });
  await client.noop();
  await idling;
  await client.logout();
});
