import { createHash } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { newOrganization, tool } from '../support/mcp.ts';

const CORE = 'urn:ietf:params:jmap:core';

let box: Box;
let base: string;
let token: string;
let address: string;
let password: string;
let mailboxToken: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  ({ token } = await newOrganization(base, 'Readers'));
  await ask('add_email_domain', { domain: 'read.test' });
  await ask('verify_email_domain', { domain: 'read.test' });
  await ask('provision_email', { domain: 'read.test', localPart: 'anna' });
  await ask('provision_email', { domain: 'read.test', localPart: 'bert' });
  address = 'anna@read.test';
  const profile = (await ask('reveal_email_credentials', { address })) as {
    imap: { password: string };
    jmap: { url: string; token: string };
  };
  ({ password } = profile.imap);
  mailboxToken = profile.jmap.token;
  expect(profile.jmap.url).toBe(`${base}/jmap/session`);
});
afterAll(() => box[Symbol.asyncDispose]());

async function ask(name: string, args: object): Promise<Record<string, unknown>> {
  const { status, body, text } = await tool(base, name, args, token);
  if (status >= 300) throw new Error(text);
  return body;
}

const basic = (user: string, secret: string): string => `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;

const get = (path: string, authorization?: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${base}${path}`, { headers: { ...(authorization !== undefined && { authorization }), ...headers } });

const post = (
  path: string,
  body: string | Buffer<ArrayBuffer>,
  type = 'application/json',
  authorization = basic(address, password),
) => fetch(`${base}${path}`, { method: 'POST', headers: { authorization, 'content-type': type }, body });

interface Session {
  accounts: Record<string, { name: string; isReadOnly: boolean; accountCapabilities: object }>;
  primaryAccounts: Record<string, string>;
  capabilities: Record<string, Record<string, unknown>>;
  username: string;
  apiUrl: string;
  state: string;
}

const sessionOf = async (authorization: string): Promise<Session> =>
  (await (await get('/.well-known/jmap', authorization)).json()) as Session;

describe('the session', () => {
  test('has the URLs under the host of the request', async () => {
    const answer = await get('/.well-known/jmap', basic(address, password));
    expect(answer.headers.get('cache-control')).toContain('no-cache');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const session = (await answer.json()) as Session & Record<string, string>;
    expect(session.username).toBe(address);
    const [id] = Object.keys(session.accounts);
    expect(id).toMatch(/^mbx_\d+$/);
    expect(session.primaryAccounts['urn:ietf:params:jmap:mail']).toBe(id);
    expect(session.capabilities[CORE]).toMatchObject({ maxSizeUpload: 50_000_000, maxCallsInRequest: 64 });
    expect(session.apiUrl).toBe(`${base}/jmap/api`);
    expect(session['eventSourceUrl']).toContain('{types}');
    expect(session['uploadUrl']).toContain('{accountId}');
    for (const part of ['{accountId}', '{blobId}', '{name}', '{type}']) expect(session['downloadUrl']).toContain(part);
  });

  test('the mailbox token of the profile opens the same account', async () => {
    expect(await sessionOf(`Bearer ${mailboxToken}`)).toEqual(await sessionOf(basic(address, password)));
  });

  test('a token of the control plane opens its mailboxes, by its actions', async () => {
    const all = await sessionOf(`Bearer ${token}`);
    expect(Object.values(all.accounts).map(({ name }) => name)).toEqual(['anna@read.test', 'bert@read.test']);
    const made = await ask('create_agent_token', { name: 'reader', actions: ['read'] });
    const reading = await sessionOf(`Bearer ${String(made['secret'])}`);
    expect(Object.values(reading.accounts).every((one) => one.isReadOnly)).toBe(true);
    const logs = await ask('create_agent_token', { name: 'logs', actions: ['logs'] });
    expect((await get('/jmap/session', `Bearer ${String(logs['secret'])}`)).status).toBe(403);
  });

  test.each([
    ['nothing', undefined],
    ['a wrong password', basic('anna@read.test', 'wrong')],
    ['nobody', basic('nobody@read.test', 'wrong')],
    ['Basic that is none', 'Basic !!!'],
    ['a token that is none', 'Bearer x_0'],
    ['a mailbox token of another', 'Bearer ms_jm_zz_AAAA'],
  ])('%s is answered 401 with problem details', async (_what, authorization) => {
    const answer = await get('/jmap/session', authorization);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.headers.get('www-authenticate')).toContain('Basic');
    expect((await answer.json()) as object).toHaveProperty('detail');
  });

  test('a preflight needs no credential', async () => {
    for (const path of ['/jmap/api', '/jmap/upload/x', '/.well-known/jmap']) {
      const answer = await fetch(`${base}${path}`, { method: 'OPTIONS' });
      expect([answer.status, answer.headers.get('access-control-allow-headers')]).toEqual([
        204,
        expect.stringContaining('authorization'),
      ]);
    }
  });
});

describe('requests', () => {
  test('are answered with the state of the session', async () => {
    const answer = await post(
      '/jmap/api',
      JSON.stringify({ using: [CORE], methodCalls: [['Core/echo', { a: 1 }, 'x']] }),
    );
    const body = (await answer.json()) as { methodResponses: unknown; sessionState: string };
    expect(body.methodResponses).toEqual([['Core/echo', { a: 1 }, 'x']]);
    expect(body.sessionState).toBe((await sessionOf(basic(address, password))).state);
  });

  test.each([
    ['no JSON', '{', 'application/json', 'notJSON'],
    ['another content type', '{}', 'text/plain', 'notJSON'],
    ['no content', '', 'application/json', 'notJSON'],
    ['no request', '{}', 'application/json', 'notRequest'],
    ['equal names', '{"using":[],"using":[]}', 'application/json', 'notJSON'],
    ['an unknown capability', '{"using":["urn:x"],"methodCalls":[]}', 'application/json', 'unknownCapability'],
    ['too much', `"${'a'.repeat(10_000_001)}"`, 'application/json', 'limit'],
  ])('%s is a 400 with its type', async (_what, body, type, error) => {
    const answer = await post('/jmap/api', body, type);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: `urn:ietf:params:jmap:error:${error}`, status: 400 });
  });
});

describe('blobs', () => {
  const path = (id: string, name = 'a.bin', query = ''): string => `/jmap/download/${id}/${name}${query}`;
  let account: string;
  beforeAll(async () => {
    [account = ''] = Object.keys((await sessionOf(basic(address, password))).accounts);
  });

  test.each([10, 64 * 1024 + 1, 5_000_000])('%i octets go up and come down again', async (size) => {
    const octets = Buffer.alloc(size, 'abcdefg');
    const up = await post(`/jmap/upload/${account}`, octets, 'image/png');
    expect(up.status).toBe(201);
    const { blobId, size: told, type } = (await up.json()) as { blobId: string; size: number; type: string };
    expect([told, type]).toEqual([size, 'image/png']);
    const down = await get(path(`${account}/${blobId}`), basic(address, password));
    expect(Buffer.from(await down.arrayBuffer()).equals(octets)).toBe(true);
    expect(down.headers.get('content-type')).toBe('image/png');
    expect(down.headers.get('content-security-policy')).toContain('sandbox');
    expect(down.headers.get('cache-control')).toBe('private, immutable, max-age=31536000');
    const part = await get(path(`${account}/${blobId}`), basic(address, password), { range: 'bytes=3-6' });
    expect([part.status, await part.text()]).toEqual([206, octets.subarray(3, 7).toString()]);
  });

  test('name and type are the requested ones, without header injection', async () => {
    const { blobId } = (await (await post(`/jmap/upload/${account}`, 'x', 'text/html')).json()) as { blobId: string };
    const name = encodeURIComponent('Rechnung "€".pdf\r\nX: y');
    const down = await get(path(`${account}/${blobId}`, name, '?accept=application/pdf'), basic(address, password));
    expect(down.headers.get('content-type')).toBe('application/pdf');
    expect(down.headers.get('content-disposition')).toMatch(
      /^attachment; filename="Rechnung ___\.pdf__X: y"; filename\*=UTF-8''Rechnung%20%22%E2%82%AC%22\.pdf%0D%0AX%3A%20y$/,
    );
    const odd = await get(path(`${account}/${blobId}`, 'a', '?accept=text/html%0d%0aX:y'), basic(address, password));
    expect(odd.headers.get('content-type')).toBe('application/octet-stream');
  });

  test('can be read through their account only', async () => {
    const { blobId } = (await (await post(`/jmap/upload/${account}`, 'secret', 'text/plain')).json()) as {
      blobId: string;
    };
    const session = await sessionOf(`Bearer ${token}`);
    const other = Object.keys(session.accounts).find((id) => id !== account);
    expect((await get(path(`${other}/${blobId}`), `Bearer ${token}`)).status).toBe(404);
    expect((await get(path(`${other}/${blobId}`), basic(address, password))).status).toBe(404);
    expect((await post(`/jmap/upload/${other}`, 'x', 'text/plain')).status).toBe(404);
  });

  test('a too large upload is refused and leaves nothing', async () => {
    const answer = await post(`/jmap/upload/${account}`, Buffer.alloc(50_000_001), 'text/plain');
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: 'urn:ietf:params:jmap:error:limit', limit: 'maxSizeUpload' });
  });

  test('a message is returned raw, its parts decoded', async () => {
    const content = Buffer.alloc(200_000, 'PDF-');
    const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
    await transport.sendMail({
      from: 'x@else.test',
      to: address,
      subject: 's',
      text: 'see',
      attachments: [{ filename: 'a.pdf', content }],
    });
    const down = await get(path(`${account}/m1-2`), basic(address, password));
    const got = Buffer.from(await down.arrayBuffer());
    expect(createHash('sha256').update(got).digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
    expect(down.headers.get('content-type')).toBe('application/pdf');
    expect(down.headers.get('content-length')).toBe(String(content.length));
    const raw = await (await get(path(`${account}/m1`), basic(address, password))).text();
    expect(raw).toMatch(/^Return-Path: <x@else.test>\r\n/);
    expect(raw).toContain('Subject: s\r\n');
    expect((await get(path(`${account}/m1-9`), basic(address, password))).status).toBe(404);
  });
});
