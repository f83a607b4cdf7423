import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { newOrganization, tool } from '../support/mcp.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));

let box: Box;
let base: string;
let token: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  ({ token } = await newOrganization(base, 'Bridged'));
});
afterAll(() => box[Symbol.asyncDispose]());

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  ...(box.env as Record<string, string>),
  ...more,
});
const started = (env = environment({ MAILSTEAD_TOKEN: token }), args: string[] = []) => ({
  command,
  args: ['mcp', ...args],
  env,
});

/** Gives lines to the bridge and ends its input; answers what it said. */
function piped(messages: readonly object[], args: string[] = [], env = environment({ MAILSTEAD_TOKEN: token })) {
  const input = messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join('');
  const { status, stdout, stderr } = spawnSync(command, ['mcp', ...args], { env, input, encoding: 'utf8' });
  const said = stdout.split('\n').filter((line) => line !== '');
  return { status, stderr, said: said.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const whoami = { id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } };

describe('clients that nobody here wrote, on their own transport', () => {
  test('the v1 library', async () => {
    const client = new OldClient({ name: 'test', version: '1' });
    await client.connect(new OldTransport(started()));
    expect((await client.listTools()).tools.length).toBeGreaterThan(20);
    const who = await client.callTool({ name: 'whoami', arguments: {} });
    expect(who['structuredContent']).toMatchObject({ organization: { name: 'Bridged' } });
    await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow('Unknown tool');
    await client.close();
  });

  test.each(['legacy', 'modern', 'auto'] as const)('the v2 library: %s', async (era) => {
    const mode = era === 'modern' ? { pin: '2026-07-28' as const } : era;
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(started()));
    expect((await client.listTools()).tools.length).toBeGreaterThan(20);
    const many = await Promise.all(
      Array.from({ length: 20 }, () => client.callTool({ name: 'whoami', arguments: {} })),
    );
    for (const who of many) expect(who.structuredContent).toMatchObject({ organization: { name: 'Bridged' } });
    await client.close();
  });

  test('without a token: the organization that is made is the one that the session speaks for', async () => {
    const client = new OldClient({ name: 'test', version: '1' });
    await client.connect(new OldTransport(started(environment())));
    expect((await client.listTools()).tools).toHaveLength(2);
    await client.callTool({ name: 'create_own_organization', arguments: { organizationName: 'By bridge' } });
    const who = await client.callTool({ name: 'whoami', arguments: {} });
    expect(who['structuredContent']).toMatchObject({ organization: { name: 'By bridge' } });
    await client.close();
  });
});

describe('a pipe', () => {
  test('everything is answered before the end, which is 0', () => {
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'sh', version: '1' } };
    const { status, said } = piped([
      { id: 'hello', method: 'initialize', params: hello },
      { method: 'notifications/initialized' },
      whoami,
    ]);
    expect(status).toBe(0);
    expect(said.map((one) => one['id'])).toEqual(['hello', 1]);
    expect(JSON.stringify(said[1])).toContain('Bridged');
  });

  test('text that only JSON takes for one line arrives whole', () => {
    const name = 'a\u2028b';
    const { said } = piped([{ ...whoami, params: { name: 'create_project', arguments: { name } } }]);
    expect(JSON.stringify(said)).toContain('must be one line without control characters');
  });

  test('a token from a file, a server by its address', async () => {
    const file = join(box.dataDir, 'token');
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    const { said } = piped(
      [whoami],
      ['--url', base, '--token-file', file],
      environment({ MAILSTEAD_DATA_DIR: '/nowhere' }),
    );
    expect(JSON.stringify(said)).toContain('Bridged');
  });

  test.each([
    [['--url', 'nonsense'], 2, '--url must be like'],
    [['--token-file', '/nowhere/token'], 1, '/nowhere/token cannot be read'],
    [['now'], 2, 'usage: mailstead mcp'],
    [['--data-dir', '/nowhere'], 1, 'No server runs on the data directory /nowhere. Start one with'],
    [['--token', 'mst_x'], 2, '--token'],
  ])('%j is answered with %i', (args, status, sentence) => {
    const done = piped([], args);
    expect([done.status, done.stderr]).toEqual([status, expect.stringContaining(sentence)]);
  });
});

describe('what goes wrong', () => {
  test('a revoked token is a JSON-RPC error of the request', async () => {
    const made = await tool(base, 'create_agent_token', { name: 'gone', actions: ['read'] }, token);
    await tool(base, 'revoke_agent_token', { tokenId: (made.body['token'] as { id: string }).id }, token);
    const { status, said } = piped([whoami], [], environment({ MAILSTEAD_TOKEN: String(made.body['secret']) }));
    expect(status).toBe(0);
    expect(said).toMatchObject([{ id: 1, error: { code: 401, message: expect.stringContaining('unauthorized') } }]);
  });

  test('a server that stops and comes back is one error, not the end', async () => {
    const bridge = spawn(command, ['mcp', '--url', base], { env: environment({ MAILSTEAD_TOKEN: token }) });
    expect(JSON.stringify(await queried(bridge, 1))).toContain('Bridged');
    await box.stop();
    expect(await queried(bridge, 2)).toMatchObject({ id: 2, error: { code: 503, data: { error: 'unavailable' } } });
    await box.start();
    expect(JSON.stringify(await queried(bridge, 3))).toContain('Bridged');
    bridge.stdin.end();
    expect((await once(bridge, 'close'))[0]).toBe(0);
  });
});

async function queried({ stdin, stdout }: ChildProcess, id: number): Promise<unknown> {
  stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...whoami, id })}\n`);
  const [line] = (await once(stdout ?? process.stdin, 'data')) as [Buffer];
  return JSON.parse(line.toString()) as unknown;
}
