import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, newOrganization, organizationBox, tool } from '../support/mcp.ts';

let box: Box;
let base: string;
let token: string;
let key: string;

beforeAll(async () => {
  ({ box, base, token } = await organizationBox('Senders'));
  await ask('add_email_domain', { domain: 'send.test' });
  await ask('verify_email_domain', { domain: 'send.test' });
  await ask('add_email_domain', { domain: 'unproved.test' });
  await ask('provision_email', { domain: 'send.test', localPart: 'inbox' });
  key = await newKey({});
});
afterAll(() => box[Symbol.asyncDispose]());

async function ask(name: string, args: object): Promise<Record<string, unknown>> {
  const { status, body, text } = await tool(base, name, args, token);
  if (status >= 300) throw new Error(text);
  return body;
}

async function newKey(more: object): Promise<string> {
  return String((await ask('create_email_api_key', { name: 'app', ...more }))['secret']);
}

async function post(body: unknown, headers: Record<string, string> = {}, path = '/api/email/send') {
  const all = { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers };
  const { status, json, text } = await http('POST', `${base}${path}`, all, JSON.stringify(body));
  if (json === undefined) throw new Error(`${status} ${text}`);
  return { status, body: json };
}

const get = async (path: string) =>
  (await http('GET', `${base}${path}`, { authorization: `Bearer ${key}` })).json ?? {};

const mail = {
  from: 'Shop <orders@send.test>',
  to: 'inbox@send.test',
  subject: 'Ihre Bestellung – 20 €',
  html: '<h1>Danke</h1><p>für Ihre Bestellung</p>',
};

async function newest(): Promise<string> {
  const { imap } = (await ask('reveal_email_credentials', { address: 'inbox@send.test' })) as {
    imap: { port: number; password: string };
  };
  const auth = { user: 'inbox@send.test', pass: imap.password };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: '127.0.0.1', port: imap.port, secure: true, auth, tls, logger: false });
  await client.connect();
  await client.mailboxOpen('INBOX');
  const found = await client.fetchOne('*', { source: true });
  await client.logout();
  if (found === undefined || found === false) throw new Error('the mailbox is empty');
  return String(found.source);
}

describe('one message', () => {
  test('is answered with everything that leaves, and is there for who is here', async () => {
    const { status, body } = await post({ ...mail, to: ['inbox@send.test', 'you@elsewhere.example'] });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      status: 'queued',
      envelope: { mailFrom: 'orders@send.test', rcptTo: ['inbox@send.test', 'you@elsewhere.example'] },
      duplicateOf: null,
    });
    const source = await newest();
    expect(source).toContain('From: "Shop" <orders@send.test>');
    expect(source).toContain('multipart/alternative');
    expect(source).toContain(`Message-ID: ${String(body['rfc822MessageId'])}`);
    expect(await get(`/api/email/messages/${String(body['id'])}`)).toMatchObject({
      status: 'held',
      recipients: [
        { address: 'inbox@send.test', state: 'delivered' },
        { address: 'you@elsewhere.example', state: 'held' },
      ],
    });
    const { events } = (await get(`/api/email/messages/${String(body['id'])}/events`)) as {
      events: { event: string }[];
    };
    expect(events.map((one) => one.event)).toEqual(['submitted', 'held']);
  });

  test('carries attachments, images of its own, and fields that are the sender’s to set', async () => {
    const attachments = [
      {
        filename: 'Rechnung März.pdf',
        contentType: 'application/pdf',
        content: Buffer.from('%PDF').toString('base64'),
      },
      { filename: 'logo.png', contentType: 'image/png', content: 'iVBORw==', contentId: 'logo' },
    ];
    const headers = { 'X-Campaign': 'spring' };
    const more = { attachments, headers, listUnsubscribe: 'https://send.test/u', replyTo: 'help@send.test' };
    expect((await post({ ...mail, ...more })).status).toBe(202);
    const source = await newest();
    for (const part of [
      'multipart/mixed',
      'multipart/related',
      `filename*0*=utf-8''Rechnung%20M%C3%A4rz.pdf`,
      'Content-ID: <logo>',
      'X-Campaign: spring',
      'List-Unsubscribe: <https://send.test/u>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'Reply-To: help@send.test',
    ]) {
      expect(source).toContain(part);
    }
  });

  test('is not sent, but shown, in a dry run; blind copies are in the envelope only', async () => {
    const { body } = await post({ ...mail, bcc: 'boss@elsewhere.example', dryRun: true });
    expect(body).toMatchObject({ status: 'dry_run', id: null });
    expect(body['envelope']).toMatchObject({ rcptTo: ['inbox@send.test', 'boss@elsewhere.example'] });
    await post({ ...mail, subject: 'blind', bcc: 'inbox@send.test', to: 'you@elsewhere.example' });
    expect(await newest()).not.toContain('Bcc');
  });
});

describe('an idempotency key', () => {
  test('sends once, whoever asks at once, and says so; another body is refused', async () => {
    const once = { ...mail, idempotencyKey: 'order-1' };
    const all = await Promise.all(Array.from({ length: 10 }, () => post(once)));
    const ids = new Set(all.map(({ body }) => body['id']));
    expect(ids.size).toBe(1);
    expect(all.filter(({ body }) => body['duplicateOf'] === null)).toHaveLength(1);
    expect(await post({ ...once, subject: 'another' })).toMatchObject({
      status: 409,
      body: { error: 'idempotency_conflict' },
    });
    const byHeader = await post(mail, { 'idempotency-key': 'order-2' });
    expect(await post(mail, { 'idempotency-key': 'order-2' })).toMatchObject({
      body: { id: byHeader.body['id'], duplicateOf: byHeader.body['id'] },
    });
  });
});

test('a key outlives kill -9: one message, the same answer, and another body is still another', async () => {
  await using fallible = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  const at = `http://127.0.0.1:${fallible.port('http')}`;
  const { token: owner } = await newOrganization(at, 'Fallible');
  await tool(at, 'add_email_domain', { domain: 'fall.test' }, owner);
  await tool(at, 'verify_email_domain', { domain: 'fall.test' }, owner);
  const secret = String((await tool(at, 'create_email_api_key', { name: 'app' }, owner)).body['secret']);
  const ask = async (subject: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const body = { from: 'a@fall.test', to: 'you@elsewhere.example', subject, text: 'x', idempotencyKey: 'once' };
    return http('POST', `${at}/api/email/send`, headers, JSON.stringify(body));
  };
  const first = await ask('once');
  await fallible.kill();
  await fallible.restart();
  const second = await ask('once');
  expect(second.text).toBe(first.text.replace('"duplicateOf":null', `"duplicateOf":"${String(first.json?.['id'])}"`));
  expect((await ask('twice')).status).toBe(409);
  const { items } = (await tool(at, 'list_queue', {}, owner)).body as { items: unknown[] };
  expect(items).toHaveLength(1);
});

test('a file that was put there before goes into a message; another key does not see it', async () => {
  const put = (name: string, auth = key) =>
    fetch(`${base}/api/email/uploads/${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${auth}`, 'content-type': 'application/pdf' },
      body: '%PDF-uploaded',
    });
  expect((await put('invoice-1')).status).toBe(201);
  expect((await put('../x')).status).toBeGreaterThanOrEqual(400);
  expect((await put('x', token)).status).toBe(401);
  const attachments = [{ filename: 'a.pdf', contentType: 'application/pdf', uploadId: 'invoice-1' }];
  expect((await post({ ...mail, subject: 'with a file', attachments })).status).toBe(202);
  expect(await newest()).toContain(Buffer.from('%PDF-uploaded').toString('base64'));
  const other = await newKey({});
  const refused = await post({ ...mail, attachments }, { authorization: `Bearer ${other}` });
  expect(refused).toMatchObject({ status: 404, body: { error: 'not_found' } });
});

describe('a scheduled message', () => {
  test('waits whole, and goes at its time', async () => {
    // Far enough for the two requests after this line, whatever else the machine does.
    const sendAt = new Date(Date.now() + 5_000).toISOString();
    const { body } = await post({ ...mail, subject: 'in a moment', sendAt });
    expect(body['status']).toBe('scheduled');
    expect(await newest()).not.toContain('in a moment');
    await expect.poll(() => newest(), { timeout: 60_000, interval: 200 }).toContain('in a moment');
    expect(await get(`/api/email/messages/${String(body['id'])}`)).toMatchObject({ status: 'delivered' });
  });

  test('can be cancelled before, and only before', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const queried = { ...mail, sendAt, idempotencyKey: 'taken back' };
    const { body } = await post(queried);
    const path = `${base}/api/email/messages/${String(body['id'])}/schedule`;
    const remove = () => http('DELETE', path, { authorization: `Bearer ${key}` });
    expect((await remove()).json).toMatchObject({ status: 'cancelled' });
    expect((await remove()).status).toBe(409);
    // A repeated request must not report the message as still scheduled.
    const gone = { error: 'conflict', state: 'withdrawn', duplicateOf: body['id'] };
    expect(await post(queried)).toMatchObject({ status: 409, body: gone });
    expect((await post([queried], {}, '/api/email/send/batch')).body['results']).toMatchObject([gone]);
  });
});

describe('what is refused', () => {
  test.each([
    ['no key', { authorization: 'Bearer nonsense' }, mail, 401, 'unauthorized'],
    ['a foreign domain', {}, { ...mail, from: 'me@elsewhere.example' }, 422, 'domain_not_onboarded'],
    ['a domain that is not verified', {}, { ...mail, from: 'me@unproved.test' }, 422, 'domain_not_verified'],
    ['two authors', {}, { ...mail, from: 'a@send.test, b@elsewhere.example' }, 400, 'invalid_arguments'],
    ['a name that hides an address', {}, { ...mail, from: '<a@b.test> <a@send.test>' }, 400, 'invalid_arguments'],
    ['a line end in the subject', {}, { ...mail, subject: 'a\r\nBcc: x@ext.example' }, 400, 'invalid_arguments'],
    ['a line end in a header', {}, { ...mail, headers: { 'X-A': 'a\nB: c' } }, 400, 'invalid_arguments'],
    ['a reserved header', {}, { ...mail, headers: { From: 'x@y.example' } }, 400, 'invalid_arguments'],
    ['NUL in a name', {}, { ...mail, from: 'a\0b <a@send.test>' }, 400, 'invalid_arguments'],
    ['a separator in a name', {}, { ...mail, to: 'a\u2028b <a@x.example>' }, 400, 'invalid_arguments'],
    ['a line end in an address', {}, { ...mail, to: 'a@x.example\r\nRCPT TO:<b@x.example>' }, 400, 'invalid_arguments'],
    ['a line end in the name of a header', {}, { ...mail, headers: { 'X-A\r\nB': 'c' } }, 400, 'invalid_arguments'],
    [
      'a line end in a filename',
      {},
      { ...mail, attachments: [{ filename: 'a\r\nb', content: '' }] },
      400,
      'invalid_arguments',
    ],
    ['a group', {}, { ...mail, to: 'team: a@x.example;' }, 400, 'invalid_arguments'],
    ['a comment', {}, { ...mail, to: 'a@x.example (Anna)' }, 400, 'invalid_arguments'],
    ['a route', {}, { ...mail, to: '<@b.example:a@x.example>' }, 400, 'invalid_arguments'],
    ['no body', {}, { from: mail.from, to: mail.to, subject: 'x' }, 400, 'invalid_arguments'],
    ['nobody', {}, { ...mail, to: [] }, 400, 'invalid_arguments'],
    [
      '51 recipients',
      {},
      { ...mail, to: Array.from({ length: 51 }, (_, i) => `a${i}@x.example`) },
      400,
      'invalid_arguments',
    ],
    ['an unknown field', {}, { ...mail, subjekt: 'x' }, 400, 'invalid_arguments'],
    [
      'an attachment with a path',
      {},
      { ...mail, attachments: [{ filename: '../x', content: '' }] },
      400,
      'invalid_arguments',
    ],
    ['nobody at a hosted domain', {}, { ...mail, to: 'nobody@send.test' }, 403, 'recipient_blocked'],
  ])('%s', async (_what, headers, body, status, error) => {
    expect(await post(body, headers)).toMatchObject({ status, body: { error } });
  });

  test('an address whose forward leads nowhere', async () => {
    await ask('set_email_forwarder', { sourceAddress: 'shop@send.test', destinationAddress: 'vanished@send.test' });
    expect(await post({ ...mail, to: 'shop@send.test' })).toMatchObject({
      status: 403,
      body: { error: 'recipient_blocked', message: expect.stringContaining('shop@send.test') as string },
    });
  });

  test('what another domain’s key, a revoked key or a token asks for', async () => {
    const limited = await newKey({ allowedDomains: ['unproved.test'] });
    expect(await post(mail, { authorization: `Bearer ${limited}` })).toMatchObject({
      status: 422,
      body: { error: 'from_domain_not_allowed' },
    });
    expect((await post(mail, { authorization: `Bearer ${token}` })).status).toBe(401);
    const { keys } = (await ask('list_email_api_keys', {})) as { keys: { id: string; prefix: string }[] };
    const mine = keys.find((one) => limited.startsWith(one.prefix));
    await ask('revoke_email_api_key', { keyId: mine?.id });
    expect((await post(mail, { authorization: `Bearer ${limited}` })).status).toBe(401);
  });

  test('one of a batch fails alone', async () => {
    const { body } = await post([mail, { ...mail, from: 'x@elsewhere.example' }], {}, '/api/email/send/batch');
    expect(body['results']).toMatchObject([{ status: 'queued' }, { error: 'domain_not_onboarded' }]);
  });
});
