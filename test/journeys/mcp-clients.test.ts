import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { newOrganization } from '../support/mcp.ts';

let box: Box;
let url: URL;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  url = new URL(`http://127.0.0.1:${box.port('http')}/mcp`);
});
afterAll(() => box[Symbol.asyncDispose]());

type Call = (name: string, args: object) => Promise<Record<string, unknown>>;

interface Called {
  structuredContent?: unknown;
  isError?: unknown;
}

/** Returns the structured content of a result, which every client can read; throws if it is an error. */
function outcome(name: string, { structuredContent, isError }: Called): Record<string, unknown> {
  if (isError === true) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`);
  return structuredContent as Record<string, unknown>;
}

async function byV1(): Promise<Call> {
  const client = new OldClient({ name: 'test', version: '1' });
  await client.connect(new OldTransport(url));
  return async (name, args) => outcome(name, (await client.callTool({ name, arguments: { ...args } })) as Called);
}

/** The modern era has no sessions: the token is kept by the client. */
async function byV2(mode: 'legacy' | { pin: '2026-07-28' }): Promise<Call> {
  const headers: Record<string, string> = {};
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const withToken: typeof fetch = (to, init) => {
    const all = new Headers(init?.headers);
    for (const [key, value] of Object.entries(headers)) all.set(key, value);
    return fetch(to, { ...init, headers: all });
  };
  await client.connect(new StreamableHTTPClientTransport(url, { fetch: withToken }));
  return async (name, args) => {
    const result = outcome(name, await client.callTool({ name, arguments: { ...args } }));
    if (typeof result['token'] === 'string') headers['authorization'] = `Bearer ${result['token']}`;
    return result;
  };
}

test.each([
  ['v1', byV1],
  ['v2 legacy', () => byV2('legacy')],
  ['v2 modern', () => byV2({ pin: '2026-07-28' })],
] as const)('from nothing to a mailbox that a mail program opens, by the %s library', async (name, open) => {
  const call = await open();
  const domain = `${name.replace(' ', '-')}.test`;
  await call('create_own_organization', { organizationName: `By ${name}` });
  const added = await call('add_email_domain', { domain });
  expect(added['next']).toBe('verify_email_domain');
  const { id } = added['domain'] as { id: string };
  expect(await call('verify_email_domain', { domainId: id })).toMatchObject({ verified: true });
  const { mailbox } = (await call('provision_email', { domain, localPart: 'agent' })) as { mailbox: { id: string } };
  const { imap } = (await call('reveal_email_credentials', { mailboxId: mailbox.id })) as {
    imap: { host: string; port: number; secure: boolean; username: string; password: string };
  };
  const { host, port, secure, username: user, password: pass } = imap;
  const options = {
    host,
    port,
    secure,
    auth: { user, pass },
    tls: { rejectUnauthorized: false },
    logger: false,
  } as const;
  const client = new ImapFlow(options);
  await client.connect();
  expect(await client.status('INBOX', { messages: true })).toMatchObject({ messages: 0 });
  await client.logout();
});

/** Calls tools as a program does that has listed them; returns whole results. */
type Raw = (name: string, args: object) => Promise<Called>;

async function rawV1(token: string): Promise<{ call: Raw; tools: string[] }> {
  const client = new OldClient({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new OldTransport(url, { requestInit }));
  const { tools } = await client.listTools();
  const call: Raw = async (name, args) => (await client.callTool({ name, arguments: { ...args } })) as Called;
  return { call, tools: tools.map((one) => one.name) };
}

async function rawV2(token: string, mode: 'legacy' | { pin: '2026-07-28' }): Promise<{ call: Raw; tools: string[] }> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const { tools } = await client.listTools();
  const call: Raw = (name, args) => client.callTool({ name, arguments: { ...args } });
  return { call, tools: tools.map((one) => one.name) };
}

test.each([
  ['v1', rawV1],
  ['v2 legacy', (token: string) => rawV2(token, 'legacy')],
  ['v2 modern', (token: string) => rawV2(token, { pin: '2026-07-28' })],
] as const)('every refusal of every tool reaches the %s library', async (name, open) => {
  const { token } = await newOrganization(url.origin, `Refused ${name}`);
  const { call, tools } = await open(token);
  expect(tools.length).toBeGreaterThan(100);
  for (const tool of tools) {
    const said = await call(tool, { nothingLikeIt: 1 });
    expect(said, tool).toMatchObject({ isError: true, structuredContent: { error: 'invalid_arguments' } });
  }
  const missing: readonly [string, object][] = [
    ['get_message', { mailbox: 'mbx_999', messageId: 'msg_4294967297' }],
    ['get_queue_item', { queueId: 'que_999' }],
    ['trace_message', { messageId: 'nothing-like-it' }],
    ['get_email_domain', { domainId: 'dom_999' }],
    ['get_draft', { draftId: 'm1a', mailbox: 'mbx_999' }],
    ['get_thread', { threadId: 't1', mailbox: 'mbx_999' }],
    ['remove_email_forwarder', { forwarderId: 'fwd_999' }],
  ];
  for (const [tool, args] of missing) {
    const said = await call(tool, args);
    expect(said, tool).toMatchObject({ isError: true, structuredContent: { error: 'not_found' } });
  }
});
