import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { errorOf, http, newOrganization, outcome, rpc, tool, toolNames } from '../support/mcp.ts';

let box: Box;
let base: string;
let token: string;

beforeAll(async () => {
  // Loopback is not counted here: the limits have tests of their own.
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  ({ token } = await newOrganization(base, 'Alpha'));
});
afterAll(() => box[Symbol.asyncDispose]());

const bearer = (secret = token) => ({ authorization: `Bearer ${secret}` });
const whoami = (headers: Record<string, string>) => rpc(base, 'tools/call', { name: 'whoami', arguments: {} }, headers);
const json = { 'content-type': 'application/json' };

describe('the endpoint', () => {
  test.each(['GET', 'HEAD', 'PUT', 'PATCH'])('%s is 405 and says what is understood', async (method) => {
    for (const path of ['/mcp', '/mcp/']) {
      const said = await http(method, `${base}${path}`);
      expect(said.status).toBe(405);
      expect(said.headers['allow']).toBe('POST, DELETE, OPTIONS');
    }
  });

  test.each([
    ['no JSON', '{', json, 400, -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', json, 400, -32600],
    ['a text', '"ping"', json, 400, -32600],
    ['id null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', json, 400, -32600],
    ['no jsonrpc', '{"id":1,"method":"ping"}', json, 400, -32600],
    ['params as a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', json, 400, -32600],
    ['another media type', '{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'content-type': 'text/plain' }, 415, 415],
    ['no media type', '{"jsonrpc":"2.0","id":1,"method":"ping"}', {}, 415, 415],
    ['a tab before the type', '{}', { 'content-type': '\tapplication/jsonx' }, 415, 415],
    [
      'deep nesting',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(99)}${']'.repeat(99)}}`,
      json,
      400,
      -32700,
    ],
    ['a foreign origin', '{}', { ...json, origin: 'https://evil.test' }, 403, 403],
    ['origin null', '{}', { ...json, origin: 'null' }, 403, 403],
    ['a foreign host', '{}', { ...json, host: 'evil.test' }, 403, 403],
    [
      'an unknown revision',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      { ...json, 'mcp-protocol-version': '1999-01-01' },
      400,
      -32600,
    ],
  ])('%s is refused', async (_name, body, headers, status, code) => {
    const said = await http('POST', `${base}/mcp`, headers, body);
    expect(said.status).toBe(status);
    expect(errorOf(said).code).toBe(code);
  });

  test('a body beyond 4 MiB is 413', async () => {
    // Announced, not sent: who sends all of it may be cut off before it reads the answer.
    const said = await http('POST', `${base}/mcp`, { ...json, 'content-length': '4194305' });
    expect(said.status).toBe(413);
  });

  test('ping looks at no credential, and a notification gets no answer', async () => {
    const said = await rpc(base, 'ping', {}, bearer('nonsense'));
    expect(said.status).toBe(200);
    expect(said.json?.['result']).toEqual({});
    const told = await http('POST', `${base}/mcp`, json, '{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect([told.status, told.text]).toEqual([202, '']);
  });

  test('a browser page of this machine may ask first', async () => {
    const said = await http('OPTIONS', `${base}/mcp`, { origin: base, 'access-control-request-method': 'POST' });
    expect(said.status).toBe(204);
    expect(said.headers['access-control-allow-origin']).toBe(base);
  });
});

describe('credentials', () => {
  test('nobody sees and calls exactly the two tools that make an organization', async () => {
    const said = await rpc(base, 'tools/list');
    const names = toolNames(said);
    expect(names).toEqual(['create_account_and_claim_link', 'create_own_organization']);
    const all = (await rpc(base, 'tools/list', {}, bearer())).json?.['result'] as { tools: { name: string }[] };
    for (const { name } of all.tools.filter((one) => !names.includes(one.name))) {
      const refused = await rpc(base, 'tools/call', { name, arguments: {} });
      expect([name, refused.status]).toEqual([name, 401]);
      expect(refused.headers['www-authenticate']).toContain('resource_metadata=');
    }
    expect((await rpc(base, 'resources/list')).status).toBe(401);
  });

  test.each([
    ['empty', ''],
    ['without a token', 'Bearer'],
    ['another scheme', 'Basic abc'],
    ['wrong prefix', `Bearer abc_${'0'.repeat(48)}`],
    ['47 digits', `Bearer mst_${'0'.repeat(47)}`],
    ['49 digits', `Bearer mst_${'0'.repeat(49)}`],
    ['upper case', `Bearer mst_${'A'.repeat(48)}`],
    ['never given out', `Bearer mst_${'0'.repeat(48)}`],
    ['an email API key', `Bearer mst_ek_${'0'.repeat(48)}`],
  ])('a credential that does not hold is 401 even for tools/list: %s', async (_name, authorization) => {
    const said = await rpc(base, 'tools/list', {}, { authorization });
    expect(said.status).toBe(401);
    expect(said.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  test('two Authorization headers, and a token in the query, are none', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } });
    const both = { ...json, authorization: [`Bearer ${token}`, `Bearer ${token}`] };
    expect((await http('POST', `${base}/mcp`, both, body)).status).toBe(401);
    expect((await http('POST', `${base}/mcp?token=${token}`, json, body)).status).toBe(401);
  });

  test('a revoked token is refused at once, and its session with it', async () => {
    const made = await tool(base, 'create_agent_token', { name: 'short-lived', actions: ['read'] }, token);
    const secret = String(made.body['secret']);
    const first = await whoami(bearer(secret));
    const session = { 'mcp-session-id': String(first.headers['mcp-session-id']) };
    expect((await whoami(session)).status).toBe(200);
    const { id } = made.body['token'] as { id: string };
    expect((await tool(base, 'revoke_agent_token', { tokenId: id }, token)).status).toBe(200);
    expect((await whoami(bearer(secret))).status).toBe(401);
    expect((await whoami(session)).status).toBe(401);
  });
});

describe('sessions', () => {
  test('one is given with a token, is good without it, and ends', async () => {
    const first = await whoami(bearer());
    const id = String(first.headers['mcp-session-id']);
    expect(id).toMatch(/^ses_[\x21-\x7e]+$/);
    const again = await whoami({ 'mcp-session-id': id });
    expect(outcome(again)['principal']).toEqual(outcome(first)['principal']);
    expect(outcome(again)['session']).toMatchObject({ id: expect.stringMatching(/^ses_\.\.[0-9a-f]{4}$/) });
    expect((await http('DELETE', `${base}/mcp`, { 'mcp-session-id': id })).status).toBe(204);
    expect((await http('DELETE', `${base}/mcp`, { 'mcp-session-id': id })).status).toBe(404);
    expect((await whoami({ 'mcp-session-id': id })).status).toBe(404);
  });

  test('a made-up id opens nothing, and one of another token is refused', async () => {
    const other = await newOrganization(base, 'Other');
    const id = String((await whoami(bearer())).headers['mcp-session-id']);
    expect((await whoami({ 'mcp-session-id': 'mine' })).status).toBe(401);
    expect((await whoami({ 'mcp-session-id': `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}` })).status).toBe(401);
    const mixed = await whoami({ 'mcp-session-id': id, ...bearer(other.token) });
    expect(mixed.status).toBe(401);
    expect(mixed.text).toContain('session_mismatch');
    const fixed = await whoami({ 'mcp-session-id': 'mine', ...bearer() });
    expect(fixed.headers['mcp-session-id']).not.toBe('mine');
  });

  test('survives a restart', async () => {
    const id = String((await whoami(bearer())).headers['mcp-session-id']);
    await box.stop();
    await box.start();
    expect((await whoami({ 'mcp-session-id': id })).status).toBe(200);
  });

  test('an anonymous one that makes an organization speaks for it', async () => {
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const session = { 'mcp-session-id': String((await rpc(base, 'initialize', hello)).headers['mcp-session-id']) };
    expect((await whoami(session)).status).toBe(401);
    const args = { name: 'create_own_organization', arguments: { organizationName: 'Bound' } };
    const made = outcome(await rpc(base, 'tools/call', args, session));
    expect(outcome(await whoami(session))['organization']).toEqual(made['organization']);
  });
});

describe('what is listed', () => {
  const names = async (query: string, headers: Record<string, string> = {}): Promise<string[]> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const said = await http('POST', `${base}/mcp${query}`, { ...json, ...bearer(), ...headers }, body);
    return toolNames(said);
  };

  test('toolsets trim it by query or header, and never what can be called', async () => {
    const whole = await names('');
    const email = await names('?toolsets=email');
    expect(email.length).toBeLessThan(whole.length);
    expect(email).toEqual(expect.arrayContaining(['whoami', 'bootstrap', 'create_email_api_key']));
    expect(email).not.toContain('list_audit_events');
    expect(await names('', { 'x-service-toolsets': 'email' })).toEqual(email);
    expect(await names('?toolsets=nonsense')).toEqual(whole);
    expect(await names('?toolsets=sms,redis')).toEqual(['bootstrap', 'whoami']);
    const args = { name: 'list_audit_events', arguments: {} };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: args });
    expect((await http('POST', `${base}/mcp?toolsets=email`, { ...json, ...bearer() }, body)).status).toBe(200);
  });

  test('read-only is meant: other tools are neither listed nor run', async () => {
    const listed = await names('?readonly=1');
    expect(listed).not.toContain('update_organization');
    const args = { name: 'update_organization', arguments: { name: 'Changed' } };
    for (const value of ['1', 'TRUE', 'yes', 'On', 'anything']) {
      const said = await rpc(base, 'tools/call', args, { ...bearer(), 'x-service-readonly': value });
      expect(outcome(said), value).toMatchObject({ error: 'action_not_allowed' });
    }
    expect(JSON.stringify(outcome(await whoami(bearer())))).not.toContain('Changed');
  });

  test('nothing of the box is shown to a stranger', async () => {
    expect(await names('')).not.toContain('list_organizations');
    const args = { name: 'list_organizations', arguments: {} };
    expect(outcome(await rpc(base, 'tools/call', args, bearer()))).toMatchObject({ error: 'out_of_scope' });
    expect((await rpc(base, 'tools/call', { name: 'get_status' }, bearer())).text).toContain('Unknown tool');
  });

  test('the catalogue is small enough to be read', async () => {
    const size = async (query: string): Promise<number> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      return (await http('POST', `${base}/mcp${query}`, { ...json, ...bearer() }, body)).text.length / 4;
    };
    expect(await size('?toolsets=core')).toBeLessThan(8_000);
    expect(await size('')).toBeLessThan(40_000);
  });
});

describe('results', () => {
  test('text and structure are the same, for errors too', async () => {
    for (const args of [{ name: 'whoami' }, { name: 'get_email_inbound_webhook', arguments: { mailboxId: 'mbx_9' } }]) {
      const { result } = (await rpc(base, 'tools/call', args, bearer())).json as {
        result: { content: { text: string }[]; structuredContent: object; isError?: boolean };
      };
      expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
      expect(result.isError).toBe(args.name === 'whoami' ? undefined : true);
    }
  });

  test.each([
    [{ name: 'no_such_tool' }, -32602],
    [{}, -32602],
    [{ name: 'whoami', arguments: [1] }, -32602],
  ])('a call that is none is a protocol error: %j', async (params, code) => {
    const said = await rpc(base, 'tools/call', params, bearer());
    expect(errorOf(said).code).toBe(code);
  });

  test.each(['resources/subscribe', 'roots/list', 'logging/setLevel', 'server/discover', 'tasks/get', '__proto__'])(
    'what is not offered says so in both eras: %s',
    async (method) => {
      expect(errorOf(await rpc(base, method, {}, bearer())).code).toBe(-32601);
      if (method === 'server/discover') return;
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': 'x' };
      const said = await rpc(base, method, { name: 'x', _meta }, { ...bearer(), ...modern });
      expect([said.status, errorOf(said).code]).toEqual([404, -32601]);
    },
  );

  test('arguments are read kindly, and unknown ones are named', async () => {
    const call = async (name: string, args: object) =>
      outcome(await rpc(base, 'tools/call', { name, arguments: args }, bearer()));
    expect(await call('search_tools', { query: 'audit', limit: '2' })).toHaveProperty('tools');
    expect(await call('get_organization', { organization_id: 'org_99' })).toMatchObject({ error: 'not_found' });
    expect(await call('search_tools', { query: 'audit', limmit: 2 })).toMatchObject({
      error: 'invalid_arguments',
      message: 'Unknown argument "limmit". Did you mean "limit"?',
    });
  });
});

describe('clients that nobody here wrote', () => {
  test('the v1 library bootstraps and goes on in its session', async () => {
    const client = new OldClient({ name: 'test', version: '1' });
    await client.connect(new OldTransport(new URL(`${base}/mcp`)));
    expect((await client.listTools()).tools).toHaveLength(2);
    await client.callTool({ name: 'create_own_organization', arguments: { organizationName: 'By v1' } });
    const who = await client.callTool({ name: 'whoami', arguments: {} });
    expect(who['structuredContent']).toMatchObject({ organization: { name: 'By v1' } });
    expect((await client.listTools()).tools.length).toBeGreaterThan(20);
    await client.close();
  });

  test.each(['legacy', 'modern'] as const)('the v2 library lists and calls: %s', async (era) => {
    const mode = era === 'modern' ? { pin: '2026-07-28' as const } : ('legacy' as const);
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: bearer() } });
    await client.connect(transport);
    expect((await client.listTools()).tools.length).toBeGreaterThan(20);
    const who = await client.callTool({ name: 'whoami', arguments: {} });
    expect(who.structuredContent).toMatchObject({ organization: { name: 'Alpha' } });
    await client.close();
  });
});
