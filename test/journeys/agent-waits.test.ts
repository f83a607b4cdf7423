import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { EventReader } from '../support/event-source.ts';
import { http, newOrganization, outcome, rpc, tool } from '../support/mcp.ts';

type Json = Record<string, unknown>;

let box: Box;
let base: string;
let token: string;
let authorization: string;
let mailbox: string;
const address = 'waits@home.example';

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  ({ secret: token } = (await box.ask('create_agent_token', { name: 'test', actions: ['read', 'manage'] })) as {
    secret: string;
  });
  authorization = `Bearer ${token}`;
  await box.ask('add_mailbox', { address });
  const { mailboxes } = (await tool(base, 'list_emails', {}, token)).body as {
    mailboxes: { id: string; address: string }[];
  };
  mailbox = mailboxes.find((one) => one.address === address)?.id ?? '';
});
afterAll(() => box[Symbol.asyncDispose]());

async function comes(subject: string, text = subject): Promise<void> {
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await smtp.sendMail({ from: 'no-reply@shop.example', to: address, subject, text });
}
/** Resolves when so many calls wait. */
async function waiting(count: number): Promise<void> {
  const open = async (): Promise<string> => (await http('GET', `${base}/metrics`)).text;
  await expect.poll(open).toContain(`waits_open ${count}\n`);
}
const subjects = (answer: Json): string[] =>
  (answer['messages'] as { untrusted: { subject: string } }[]).map(({ untrusted }) => untrusted.subject);
async function now(): Promise<string> {
  return String((await tool(base, 'wait_for_email', { mailbox, timeoutSeconds: 0 }, token)).body['cursor']);
}

describe('a wait', () => {
  test('is a long poll over REST, and a plain answer over MCP', async () => {
    const since = await now();
    const path = `${base}/api/email/mailboxes/${address}/wait?since=${since}&timeout=30`;
    const polled = http('GET', path, { authorization });
    const called = rpc(
      base,
      'tools/call',
      { name: 'wait_for_email', arguments: { mailbox, since } },
      { authorization },
    );
    await waiting(2);
    await comes('to both');
    expect(subjects((await polled).json ?? {})).toEqual(['to both']);
    expect(subjects(outcome(await called))).toEqual(['to both']);
    const bad = await http('GET', `${base}/api/email/mailboxes/${address}/wait?since=w1.1_AAAAAAAA`, { authorization });
    expect([bad.status, bad.json?.['error']]).toEqual([400, 'invalid_arguments']);
  });

  test('ends when its client goes away', async () => {
    const queried = request(`${base}/api/email/mailboxes/${address}/wait?timeout=50`, { headers: { authorization } });
    queried.on('error', () => undefined);
    queried.end();
    await waiting(1);
    queried.destroy();
    await waiting(0);
  });

  test('ends when its token is revoked', async () => {
    const made = await tool(base, 'create_agent_token', { name: 'short', actions: ['read'] }, token);
    const { token: one, secret } = made.body as { token: { id: string }; secret: string };
    const answer = tool(base, 'wait_for_email', { mailbox, timeoutSeconds: 50 }, secret);
    await waiting(1);
    await tool(base, 'revoke_agent_token', { tokenId: one.id }, token);
    expect(await answer).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
  });

  test('reports its progress to clients of both eras that ask for it', async () => {
    const headers = { authorization };
    const old = new OldClient({ name: 'test', version: '1' });
    await old.connect(new OldTransport(new URL(`${base}/mcp`), { requestInit: { headers } }));
    const modern = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await modern.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }));
    const told: Json[] = [];
    const onprogress = (one: object): void => void told.push({ ...one });
    const wanted = { name: 'wait_for_email', arguments: { mailbox, timeoutSeconds: 300 } };
    const answers = [old.callTool(wanted, undefined, { onprogress }), modern.callTool(wanted, { onprogress })];
    await waiting(2);
    await expect.poll(() => told).toHaveLength(2);
    expect(told).toEqual([
      { progress: 0, total: 300 },
      { progress: 0, total: 300 },
    ]);
    await comes('streamed');
    for (const { structuredContent } of await Promise.all(answers)) {
      expect(subjects(structuredContent as Json)).toEqual(['streamed']);
    }
    await Promise.all([old.close(), modern.close()]);
  });

  test('gives a code, and says that local mode believed it', async () => {
    const since = await now();
    const answer = tool(base, 'wait_for_code', { mailbox, expectFrom: 'shop.example', since }, token);
    await waiting(1);
    await comes('Your verification code', 'Your verification code is 482913.');
    expect((await answer).body).toMatchObject({ matched: true, code: '482913', sender: 'local', confidence: 'high' });
  });
});

/** A stream of the current revision, and what it said so far. */
async function listen(uris: string[], by: string): Promise<{ said: Json[]; close(): void; ended: Promise<void> }> {
  const protocol = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': protocol,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { notifications: { resourceSubscriptions: uris }, _meta };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'sub', method: 'subscriptions/listen', params });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${by}`,
    'mcp-protocol-version': protocol,
    'mcp-method': 'subscriptions/listen',
  };
  const said: Json[] = [];
  const done = Promise.withResolvers<void>();
  const queried = request(`${base}/mcp`, { method: 'POST', headers }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) said.push(JSON.parse(data) as Json);
      }
    });
    response.on('close', () => done.resolve());
  });
  queried.on('error', () => undefined);
  queried.end(body);
  await expect.poll(() => said).not.toEqual([]);
  return { said, close: () => void queried.destroy(), ended: done.promise };
}
const updates = (said: readonly Json[]): unknown[] =>
  said
    .filter(({ method }) => method === 'notifications/resources/updated')
    .map(({ params }) => (params as { uri: string }).uri);

describe('a subscription', () => {
  test('reports mail and the outbox, and of nothing that is not its own', async () => {
    const other = await newOrganization(base, 'Others');
    const uri = `mail://mailbox/${mailbox}`;
    const mine = await listen([uri, 'mail://outbox', 'mail://mailbox/mbx_999999'], token);
    const theirs = await listen([uri, 'mail://outbox'], other.token);
    expect(mine.said[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { resourceSubscriptions: [uri, 'mail://outbox'] } },
    });
    expect(theirs.said[0]).toMatchObject({
      params: { notifications: { resourceSubscriptions: ['mail://outbox'] } },
    });
    await comes('told');
    await expect.poll(() => updates(mine.said)).toContain(uri);
    const sendAt = new Date(Date.now() + 86_400_000).toISOString();
    const sender = (await box.ask('create_agent_token', { name: 'sends', actions: ['send'] })) as { secret: string };
    const mail = { from: address, to: 'x@far.example', subject: 'later', text: 'later', sendAt };
    expect((await tool(base, 'send_email', mail, sender.secret)).status).toBeLessThan(300);
    await expect.poll(() => updates(mine.said)).toContain('mail://outbox');
    expect(updates(theirs.said)).toEqual([]);
    mine.close();
    theirs.close();
    await waiting(0);
  });

  test('ends when its token is revoked', async () => {
    const made = await tool(base, 'create_agent_token', { name: 'short', actions: ['read'] }, token);
    const { token: one, secret } = made.body as { token: { id: string }; secret: string };
    const stream = await listen([`mail://mailbox/${mailbox}`], secret);
    await tool(base, 'revoke_agent_token', { tokenId: one.id }, token);
    await stream.ended;
    expect(stream.said.at(-1)).toMatchObject({ id: 'sub', result: {} });
  });
});

test('a stream of events informs programs of mail, and ends when its token does', async () => {
  const made = await tool(base, 'create_agent_token', { name: 'program', actions: ['read'] }, token);
  const { token: one, secret } = made.body as { token: { id: string }; secret: string };
  await using stream = await EventReader.open(`${base}/api/events`, { authorization: `Bearer ${secret}` });
  expect(await stream.next()).toMatchObject({ event: 'mode', data: { mode: 'normal' } });
  await waiting(1);
  await comes('for a program');
  expect(await stream.next()).toMatchObject({ event: 'mail', data: { mailboxId: mailbox, junk: false } });
  await tool(base, 'revoke_agent_token', { tokenId: one.id }, token);
  expect(await stream.next()).toBeUndefined();
  await waiting(0);
  const anonymous = await http('GET', `${base}/api/events`);
  expect([anonymous.status, anonymous.json?.['error']]).toEqual([401, 'unauthorized']);
});

test('a server that stops answers who waits, and the cursor goes on behind it', async () => {
  const since = await now();
  const answer = tool(base, 'wait_for_email', { mailbox, since, timeoutSeconds: 50 }, token);
  await waiting(1);
  await box.stop();
  const { body } = await answer;
  expect(body).toMatchObject({ matched: false, timedOut: false, cursor: expect.any(String) });
  await box.start();
  base = `http://127.0.0.1:${box.port('http')}`;
  await comes('behind the stop');
  const next = await tool(base, 'wait_for_email', { mailbox, since: body['cursor'], timeoutSeconds: 50 }, token);
  expect(subjects(next.body)).toEqual(['behind the stop']);
});
