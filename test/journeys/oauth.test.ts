import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { errorOf, http, outcome, rpc, tool } from '../support/mcp.ts';
import {
  authorizePath,
  cameBack,
  CALLBACK,
  connected,
  decided,
  exchanged,
  pkce,
  posted,
  refreshed,
  registered,
  tokensOf,
  wish,
} from '../support/oauth.ts';
import { type Owned, portalBox } from '../support/visitor.ts';

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;

beforeAll(async () => {
  ({ box, base, acme, other } = await portalBox({ ALLOW_PRIVATE_NETWORKS: 'true' }));
});
afterAll(() => box[Symbol.asyncDispose]());

/** The host that the OAuth libraries need: it stores their state and opens the browser. */
class Host {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = { client_name: 'A host', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
  client: Record<string, unknown> | undefined;
  kept: Record<string, unknown> | undefined;
  verifier = '';
  /** Where the person was sent. */
  opened: URL[] = [];

  state(): string {
    return 'state-of-the-host';
  }
  clientInformation() {
    return this.client as never;
  }
  saveClientInformation(client: object): void {
    this.client = { ...client };
  }
  tokens() {
    return this.kept as never;
  }
  invalidateCredentials(scope: string): void {
    if (scope === 'all' || scope === 'tokens') this.kept = undefined;
    if (scope === 'all' || scope === 'client') this.client = undefined;
  }
  discovered: object | undefined;
  saveDiscoveryState(state: object): void {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered as never;
  }
  saveTokens(tokens: object): void {
    this.kept = { ...tokens };
  }
  redirectToAuthorization(url: URL): void {
    this.opened.push(url);
  }
  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }
  codeVerifier(): string {
    return this.verifier;
  }
}

interface Opened {
  host: Host;
  connect: () => Promise<unknown>;
  finish: (back: Record<string, string>) => Promise<void>;
  call: (name: string, args?: object) => Promise<Record<string, unknown>>;
}

function byV1(): Opened {
  const host = new Host();
  const url = new URL(`${base}/mcp?auth=required`);
  const open = (): OldTransport => new OldTransport(url, { authProvider: host });
  let client = new OldClient({ name: 'v1', version: '1' });
  let transport = open();
  return {
    host,
    connect: () => {
      client = new OldClient({ name: 'v1', version: '1' });
      transport = open();
      return client.connect(transport);
    },
    finish: ({ code = '' }) => transport.finishAuth(code),
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: { ...args } })).structuredContent as Record<string, unknown>,
  };
}

function byV2(mode: 'legacy' | { pin: '2026-07-28' }): Opened {
  const host = new Host();
  const url = new URL(`${base}/mcp?auth=required`);
  const open = (): StreamableHTTPClientTransport => new StreamableHTTPClientTransport(url, { authProvider: host });
  let client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
  let transport = open();
  return {
    host,
    connect: () => {
      client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
      transport = open();
      return client.connect(transport);
    },
    finish: (back) => transport.finishAuth(new URLSearchParams(back)),
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: { ...args } })).structuredContent as Record<string, unknown>,
  };
}

describe.each([
  // While it has a refresh token it never asks for more: its person gives more from the beginning.
  ['v1', byV1, false],
  ['v2 legacy', () => byV2('legacy'), true],
  ['v2 modern', () => byV2({ pin: '2026-07-28' }), true],
] as const)('a host with the %s library', (name, open, asksForMore) => {
  test('finds its way, asks the person, calls tools, asks for more, refreshes, and is banned', async () => {
    const { host, connect, finish, call } = open();
    await expect(connect()).rejects.toThrow(/[Uu]nauthorized/);
    const [queried] = host.opened;
    expect(queried?.origin).toBe(base);
    expect(Object.fromEntries(queried?.searchParams ?? [])).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: `${base}/mcp`,
      scope: 'read',
      state: 'state-of-the-host',
    });
    const given = asksForMore ? ['read'] : ['read', 'manage'];
    const first = await decided(acme.owner, Object.fromEntries(queried?.searchParams ?? []), { actions: given });
    const back = cameBack(first);
    expect(back).toMatchObject({ state: 'state-of-the-host', iss: base });
    await finish(back);
    await connect();
    expect(await call('whoami')).toMatchObject({
      organization: { name: 'Acme' },
      principal: { type: 'oauth', name: 'A host', owner: false },
    });

    if (asksForMore) {
      // A missing scope sends the host to the person again, with all scopes that it needs.
      await expect(call('create_project', { name: 'More' })).rejects.toThrow();
      const more = Object.fromEntries(host.opened.at(-1)?.searchParams ?? []);
      expect(more['scope']).toBe('read manage');
      await finish(cameBack(await decided(acme.owner, more)));
      await connect();
    }
    expect(await call('create_project', { name: `By ${name}` })).toMatchObject({ project: { name: `By ${name}` } });

    const before = host.kept;
    host.kept = { ...before, access_token: `mst_oa_${'0'.repeat(48)}` };
    expect(await call('whoami')).toMatchObject({ principal: { type: 'oauth' } });
    expect(host.kept?.['access_token']).not.toBe(before?.['access_token']);
    expect(host.kept?.['refresh_token']).not.toBe(before?.['refresh_token']);

    const tokenId = ((await call('whoami'))['principal'] as { tokenId: string }).tokenId;
    const revoked = await tool(base, 'revoke_agent_token', { tokenId }, acme.token);
    expect(revoked.status).toBe(200);
    const opened = host.opened.length;
    await expect(call('whoami')).rejects.toThrow();
    expect(host.opened).toHaveLength(opened + 1);
  });
});

test('one consent opens MCP, REST and JMAP, and all of them close at once', async () => {
  const { access, refresh, client, scope } = await connected(base, acme.owner, { scope: 'read' });
  expect(scope).toBe('read');
  const authorization = `Bearer ${access}`;
  expect(outcome(await rpc(base, 'tools/call', { name: 'whoami' }, { authorization }))).toMatchObject({
    principal: { type: 'oauth' },
  });
  // A session is good for an hour whatever it began with: an access token would outlive itself by it.
  expect((await rpc(base, 'tools/list', {}, { authorization })).headers['mcp-session-id']).toBeUndefined();
  const bearer = { authorization: `Bearer ${acme.token}` };
  expect((await rpc(base, 'tools/list', {}, bearer)).headers['mcp-session-id']).toBeDefined();
  expect((await tool(base, 'list_emails', {}, access)).status).toBe(200);
  const session = await http('GET', `${base}/.well-known/jmap`, { authorization });
  const jmap = session.status === 200 ? session : await http('GET', `${base}/jmap/session`, { authorization });
  expect(jmap.status).toBe(200);
  expect(Object.keys(jmap.json?.['accounts'] as object)).toHaveLength(2);
  // Over REST what lacks is an error as for every token.
  expect((await tool(base, 'create_project', { name: 'x' }, access)).body).toMatchObject({
    error: 'action_not_allowed',
  });

  expect((await posted(base, 'revoke', { token: refresh, client_id: client })).status).toBe(200);
  expect((await rpc(base, 'tools/list', {}, { authorization })).status).toBe(401);
  expect((await tool(base, 'list_emails', {}, access)).status).toBe(401);
  expect((await http('GET', `${base}/jmap/session`, { authorization })).status).toBe(401);
  expect((await refreshed(base, client, refresh)).json).toMatchObject({ error: 'invalid_grant' });
});

test('a client with a metadata document needs no registration, and its host answers for it', async () => {
  let document = {};
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const id = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client.json`;
  document = { client_id: id, client_name: 'By document', redirect_uris: ['http://127.0.0.1/callback'] };
  const { verifier, challenge } = pkce();
  const queried = wish(id, challenge);
  expect((await acme.owner.get(authorizePath(queried))).text).toContain(new URL(id).host);
  const { code = '' } = cameBack(await decided(acme.owner, queried));
  server.close();
  const { access, refresh } = tokensOf(await exchanged(base, id, code, verifier));
  expect((await tool(base, 'whoami', {}, access)).body).toMatchObject({ principal: { name: 'By document' } });
  // It was let in: its host may be down by now.
  expect((await refreshed(base, id, refresh)).status).toBe(200);
});

test('it holds over a kill, and what was reported before it is remembered', async () => {
  const first = await connected(base, acme.owner);
  const second = tokensOf(await refreshed(base, first.client, first.refresh));
  await box.kill();
  await box.start();
  expect((await tool(base, 'whoami', {}, second.access)).status).toBe(200);
  expect((await refreshed(base, first.client, first.refresh)).json).toMatchObject({ error: 'invalid_grant' });
  expect((await tool(base, 'whoami', {}, second.access)).status).toBe(401);
});

test('a challenge says what is wrong, and whom to ask', async () => {
  const metadata = `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
  const none = await rpc(base, 'tools/call', { name: 'list_emails' });
  expect([none.status, none.headers['www-authenticate']]).toEqual([
    401,
    `Bearer realm="mcp", ${metadata}, scope="read"`,
  ]);
  const wrong = await rpc(base, 'tools/list', {}, { authorization: `Bearer mst_oa_${'a'.repeat(48)}` });
  expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([
    401,
    `Bearer realm="mcp", ${metadata}, scope="read", error="invalid_token"`,
  ]);
  const { access } = await connected(base, acme.owner, { scope: 'mail_read' });
  const lacks = await rpc(
    base,
    'tools/call',
    { name: 'create_project', arguments: { name: 'x' } },
    { authorization: `Bearer ${access}` },
  );
  expect([lacks.status, lacks.headers['www-authenticate']]).toEqual([
    403,
    `Bearer realm="mcp", ${metadata}, scope="mail_read manage", error="insufficient_scope"`,
  ]);
  expect(errorOf(lacks)).toMatchObject({ code: 403, data: { error: 'action_not_allowed', requiredAction: 'manage' } });
  // A bearer token gets the error in the result of the tool, without a challenge.
  const made = await tool(base, 'create_agent_token', { name: 'r', actions: ['read'] }, acme.token);
  const authorization = `Bearer ${String(made.body['secret'])}`;
  const told = await rpc(base, 'tools/call', { name: 'create_project', arguments: { name: 'x' } }, { authorization });
  expect([told.status, outcome(told)['error']]).toEqual([200, 'action_not_allowed']);
});

test.each(['initialize', 'server/discover', 'tools/list'])(
  '?auth=required refuses %s without a token',
  async (method) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const json = { 'content-type': 'application/json' };
    const said = await http('POST', `${base}/mcp?auth=required`, json, message);
    expect([said.status, said.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('resource_metadata='),
    ]);
    expect(
      (await http('POST', `${base}/mcp?auth=required`, json, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status,
    ).toBe(200);
  },
);

test('a person sees the programs, and ends one; another person has no say in it', async () => {
  const { access } = await connected(base, acme.owner);
  const { text } = await acme.owner.get('/account/apps');
  expect(text).toContain('Test client');
  const { principal } = (await tool(base, 'whoami', {}, access)).body as { principal: { tokenId: string } };
  const id = principal.tokenId;
  // Owners see it among the tokens, too, and could end it there.
  expect((await acme.owner.get(`${acme.path}/tokens`)).text).toMatch(/OAuth, granted by usr_\d+/);
  expect((await other.owner.get('/account/apps')).text).toContain('No connected programs');
  const foreign = await other.owner.post('/account/apps', { token: id, form: await other.owner.formToken('/account') });
  expect(foreign.headers['location']).toBe('/account/apps');
  expect((await tool(base, 'whoami', {}, access)).status).toBe(200);
  expect((await acme.owner.post('/account/apps', { token: id, form: 'x' })).status).toBe(403);
  const own = await acme.owner.post('/account/apps', { token: id, form: await acme.owner.formToken('/account') });
  expect(own.headers['location']).toBe('/account/apps?done=ended');
  expect((await tool(base, 'whoami', {}, access)).status).toBe(401);
  const listed = await tool(base, 'list_agent_tokens', { limit: 100 }, acme.token);
  const row = (listed.body['tokens'] as Record<string, unknown>[]).find((one) => one['id'] === id);
  expect(row).toMatchObject({ kind: 'oauth', revoked: true, createdBy: expect.stringMatching(/^usr_/) as unknown });
});

test('every step is in the audit log, which stays whole, and no secret is', async () => {
  const client = await registered(base);
  const { verifier, challenge } = pkce();
  const { code = '' } = cameBack(await decided(other.owner, wish(client, challenge)));
  const { access, refresh } = tokensOf(await exchanged(base, client, code, verifier));
  await posted(base, 'revoke', { token: access, client_id: client });
  const log = await tool(base, 'list_audit_events', { limit: 100 }, other.token);
  const operations = (log.body['events'] as { operation: string }[]).map((one) => one.operation);
  for (const one of ['allow_app', 'connect_app', 'disconnect_app']) expect(operations).toContain(one);
  const seen = `${log.text}${box.printed.join('\n')}`;
  for (const secret of [code, access, refresh, verifier]) expect(seen).not.toContain(secret);
});
