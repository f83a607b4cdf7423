import { createHash } from 'node:crypto';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, outcome, rpc, tool } from '../support/mcp.ts';

const mailbox = 'me@home.example';

let box: Box;
let base: string;
let token: string;
let password: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  for (const address of [mailbox, 'bert@home.example']) await box.ask('add_mailbox', { address });
  const made = await box.ask('create_agent_token', { name: 'test', actions: ['read', 'send'] });
  token = (made as { secret: string }).secret;
  const { imap } = (await box.ask('reveal_email_credentials', { address: mailbox })) as { imap: { password: string } };
  ({ password } = imap);
});
afterAll(() => box[Symbol.asyncDispose]());

type Json = Record<string, unknown>;

async function call(name: string, args: object): Promise<Json> {
  const authorization = `Bearer ${token}`;
  return outcome(await rpc(base, 'tools/call', { name, arguments: { mailbox, ...args } }, { authorization }));
}

/** Runs actions of a person in a mail program (IMAP). */
async function person<T>(work: (client: ImapFlow) => Promise<T>): Promise<T> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imap'),
    secure: false,
    doSTARTTLS: false,
    auth: { user: mailbox, pass: password },
    logger: false,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.logout();
  }
}

/** The octets of the only message of a folder. */
const onlyOne = (folder: string): Promise<{ source: string; flags: Set<string> }> =>
  person(async (client) => {
    await client.mailboxOpen(folder);
    const all = await client.fetchAll('1:*', { source: true, flags: true });
    expect(all).toHaveLength(1);
    return { source: String(all[0]?.source), flags: all[0]?.flags ?? new Set() };
  });

test('an agent reads, drafts an answer with a file, meets the edits of a person, and sends what it read', async () => {
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await smtp.sendMail({
    from: 'Shop <shop@remote.example>',
    to: mailbox,
    replyTo: 'bert@home.example',
    subject: 'Offer',
    text: 'Ten for one hundred?',
  });
  const { messages } = await call('search_messages', { query: 'subject:offer' });
  const [found] = messages as { id: string; threadId: string }[];

  const file = Buffer.from('our prices');
  const sha256 = createHash('sha256').update(file).digest('hex');
  const place = await tool(
    base,
    'upload_attachment_url',
    { filename: 'prices.txt', contentType: 'text/plain', sizeBytes: file.length, sha256 },
    token,
  );
  const { putUrl, uploadId } = place.body as { putUrl: string; uploadId: string };
  expect((await http('PUT', putUrl, {}, 'another file')).json).toMatchObject({ error: 'invalid_arguments' });
  expect((await http('PUT', `${putUrl}x`, {}, String(file))).status).toBe(404);
  expect((await http('PUT', putUrl, {}, String(file))).status).toBe(201);

  const made = await call('create_draft', { inReplyTo: found?.id, text: 'Twelve.', attachments: [{ uploadId }] });
  const draft = made['draft'] as { id: string; revision: string; threadId: string };
  expect(made['draft']).toMatchObject({ threadId: found?.threadId, to: [{ address: 'bert@home.example' }] });

  const seen = await onlyOne('Drafts');
  expect([...seen.flags]).toContain('\\Draft');
  expect(seen.source).toContain('filename="prices.txt"');
  await person(async (client) => {
    await client.mailboxOpen('Drafts');
    await client.append('Drafts', seen.source.replace('Twelve.', 'Eleven, and no less.'), ['\\Draft', '\\Seen']);
    await client.messageDelete('1');
  });

  const stale = { draftId: draft.id, revision: draft.revision };
  const refused = await call('send_draft', stale);
  expect(refused).toMatchObject({ error: 'conflict' });
  const now = (await call('get_draft', { draftId: draft.id }))['draft'] as { revision: string; body: { text: string } };
  expect(now.revision).toBe(refused['revision']);
  expect(now.body.text).toContain('Eleven, and no less.');

  const right = { draftId: draft.id, revision: now.revision };
  const sent = await call('send_draft', right);
  expect(sent).toMatchObject({ envelope: { rcptTo: ['bert@home.example'] }, threadId: found?.threadId });
  const again = await tool(base, 'send_draft', { mailbox, ...right }, token);
  expect(again.body).toMatchObject({ id: sent['id'], duplicateOf: sent['id'] });

  const copy = await onlyOne('Sent');
  expect(copy.source).toContain('Eleven, and no less.');
  expect(copy.source).toContain('> Ten for one hundred?');
  expect(copy.source).toMatch(/^In-Reply-To: </m);
  const { drafts } = await call('list_drafts', {});
  expect(drafts).toEqual([]);
  expect([...(await onlyOne('INBOX')).flags]).toContain('\\Answered');
});

test('an answer and a passed on message leave over REST as over MCP', async () => {
  const path = `${base}/api/email/mailboxes/${mailbox}/messages`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const { json } = await http('GET', path, headers);
  const [{ id } = { id: '' }] = (json ?? {})['messages'] as { id: string }[];
  const text = 'Agreed.';
  const answer = await http('POST', `${path}/${id}/reply`, headers, JSON.stringify({ text }));
  expect(answer.json).toMatchObject({
    recipients: [{ address: 'bert@home.example', state: 'delivered', source: 'reply_to' }],
    reasons: ['bert@home.example is in its Reply-To and not in its From'],
  });
  expect(await call('reply_to_email', { messageId: id, text })).toMatchObject({ duplicateOf: answer.json?.['id'] });
  const passed = await http('POST', `${path}/${id}/forward`, headers, JSON.stringify({ to: 'bert@home.example' }));
  expect(passed.json).toMatchObject({ envelope: { rcptTo: ['bert@home.example'] } });
});
