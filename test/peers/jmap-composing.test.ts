import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { flow, sources } from './flow.ts';
import { succeed } from './run.ts';

const SCRIPT = join(import.meta.dirname, 'read_email.py');
const USING = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
const PICTURE = Buffer.from(Array.from({ length: 1_000 }, (_, i) => (i * 31) % 256));
const NAME = `Übersicht ${'lang '.repeat(10)}"1".png`;
const PEOPLE = [
  { name: 'Jörg "Joe" Müller, GmbH', email: 'joe@example.com' },
  // One encoded-word: before 3.12 Python shows a blank where a name goes on in the next.
  { name: '山田太郎'.repeat(3), email: 'yamada@example.com' },
  { name: null, email: '"odd local"@example.com' },
];
const SUBJECT = 'Grüße aus 東京 – ein langer Betreff, der gefaltet wird, weil er nicht auf eine Zeile passt 😀';
const TEXT = 'Guten Tag,\n\nschöne Grüße.\n.\nFrom here on\n';
const HTML = `<p>Schöne Grüße</p><img src="cid:pic@box.test">${'<br>'.repeat(500)}`;

let box: Box;
let authorization: string;
let account: string;

beforeAll(async () => {
  box = await startBox();
  authorization = `Basic ${Buffer.from(`${box.address}:${box.password}`).toString('base64')}`;
  const session = (await (await http('/jmap/session')).json()) as { accounts: object };
  account = Object.keys(session.accounts)[0] ?? '';
});
afterAll(() => box[Symbol.asyncDispose]());

const http = (path: string, type?: string, body?: string | Buffer<ArrayBuffer>): Promise<Response> =>
  fetch(`http://127.0.0.1:${box.port('http')}${path}`, {
    headers: { authorization, ...(type !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { method: 'POST', body }),
  });

async function call(name: string, args: object): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ using: USING, methodCalls: [[name, { accountId: account, ...args }, 'c']] });
  const answer = await http('/jmap/api', 'application/json', body);
  const { methodResponses } = (await answer.json()) as { methodResponses: [string, Record<string, unknown>][] };
  return methodResponses[0]?.[1] ?? {};
}

async function upload(octets: Buffer<ArrayBuffer>, type: string): Promise<string> {
  const answer = await http(`/jmap/upload/${account}`, type, octets);
  return ((await answer.json()) as { blobId: string }).blobId;
}

test('what JMAP composes is what IMAP clients and Python read', async () => {
  await using client = await flow(box);
  const drafts = await client.status('Drafts', { messages: true });
  expect(drafts).toMatchObject({ messages: 0 });
  const picture = await upload(PICTURE, 'image/png');
  const message = await upload(Buffer.from('Subject: inner\r\n\r\nInside.\r\n'), 'message/rfc822');
  // The first mailboxes of a box have the first ids.
  const mailboxIds = { f3: true, f2: true };
  const email = {
    mailboxIds,
    keywords: { $draft: true },
    from: [{ name: 'Me', email: box.address }],
    to: PEOPLE,
    subject: SUBJECT,
    textBody: [{ partId: 't' }],
    htmlBody: [{ partId: 'h' }],
    bodyValues: { t: { value: TEXT }, h: { value: HTML } },
    attachments: [
      { blobId: picture, cid: 'pic@box.test', disposition: 'inline', name: 'pic.png' },
      { blobId: picture, name: NAME },
      { blobId: message },
    ],
  };
  const answer = await call('Email/set', { create: { k: email } });
  const made = (answer['created'] as { k: { blobId: string; size: number } } | null)?.k;
  if (made === undefined) throw new Error(JSON.stringify(answer));
  const download = await http(`/jmap/download/${account}/${made.blobId}/draft.eml?type=message/rfc822`);
  const octets = Buffer.from(await download.arrayBuffer());
  expect(octets.length).toBe(made.size);
  const folders = (await client.list()).map(({ path }) => path);
  const found = await Promise.all(folders.map(async (path) => ({ path, sources: await sources(client, path) })));
  const holding = found.filter(({ sources: all }) => all.length > 0);
  expect(holding.length).toBe(2);
  for (const { sources: all } of holding) expect(all).toEqual([octets]);

  await client.mailboxOpen(holding[0]?.path ?? '');
  const one = await client.fetchOne('*', { envelope: true, flags: true, bodyStructure: true });
  if (one === false || one === undefined) throw new Error('nothing was fetched');
  expect(one.envelope).toMatchObject({
    subject: SUBJECT,
    to: [
      { name: PEOPLE[0]?.name, address: 'joe@example.com' },
      { name: PEOPLE[1]?.name, address: 'yamada@example.com' },
      { address: expect.stringContaining('odd local') },
    ],
  });
  expect([...(one.flags ?? [])]).toEqual(['\\Draft']);
  expect(one.bodyStructure?.childNodes?.map(({ type }) => type)).toEqual([
    'multipart/related',
    'image/png',
    'message/rfc822',
  ]);

  const read: unknown = JSON.parse(await succeed('/usr/bin/python3', [SCRIPT], { input: octets }));
  expect(read).toEqual({
    subject: SUBJECT,
    from: [['Me', box.address]],
    to: [
      [PEOPLE[0]?.name, 'joe@example.com'],
      [PEOPLE[1]?.name, 'yamada@example.com'],
      ['', '"odd local"@example.com'],
    ],
    defects: [],
    headerDefects: [],
    parts: [
      ['text/plain', null, null, TEXT],
      ['text/html', null, null, HTML],
      ['image/png', 'pic.png', 'inline', PICTURE.toString('hex')],
      ['image/png', NAME, 'attachment', PICTURE.toString('hex')],
      ['message/rfc822', null, 'attachment', 'inner'],
      ['text/plain', null, null, 'Inside.\n'],
    ],
  });
});
