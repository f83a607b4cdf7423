import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

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

/** What every client can do with the structured half of a result. */
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
