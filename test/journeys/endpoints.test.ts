import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BOX_OPERATIONS } from '../../src/operations/operator/index.ts';
import { CATALOGUE } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/core/operation.ts';
import type { Box } from '../support/box.ts';
import { http, organizationBox, rpc, type Said, tool, toolNames } from '../support/mcp.ts';

let box: Box;
let base: string;
let token: string;
let revoked: string;

beforeAll(async () => {
  // Loopback is not counted here: the limits have tests of their own.
  ({ box, base, token } = await organizationBox('Doors'));
  const made = await tool(base, 'create_agent_token', { name: 'gone', actions: ['read', 'manage'] }, token);
  revoked = String(made.body['secret']);
  await tool(base, 'revoke_agent_token', { tokenId: (made.body['token'] as { id: string }).id }, token);
});
afterAll(() => box[Symbol.asyncDispose]());

const json = { 'content-type': 'application/json' };
type Headers = Record<string, string | string[]>;

/** Everything that is no credential, by what it looks like. */
const NONE: readonly (readonly [string, () => Headers])[] = [
  ['nothing', () => ({})],
  ['an empty header', () => ({ authorization: '' })],
  ['no token', () => ({ authorization: 'Bearer' })],
  ['a space', () => ({ authorization: 'Bearer ' })],
  ['another scheme', () => ({ authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` })],
  ['no scheme', () => ({ authorization: token })],
  ['another prefix', () => ({ authorization: `Bearer abc${token.slice(3)}` })],
  ['47 digits', () => ({ authorization: `Bearer ${token.slice(0, -1)}` })],
  ['49 digits', () => ({ authorization: `Bearer ${token}0` })],
  ['upper case', () => ({ authorization: `Bearer mst_${token.slice(4).toUpperCase()}F` })],
  ['one digit turned', () => ({ authorization: `Bearer ${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}` })],
  ['a revoked one', () => ({ authorization: `Bearer ${revoked}` })],
  ['an email API key', () => ({ authorization: `Bearer mst_ek_${token.slice(4)}` })],
  ['two headers', () => ({ authorization: [`Bearer ${token}`, `Bearer ${token}`] })],
  ['two in one', () => ({ authorization: `Bearer ${token}, Bearer ${token}` })],
  ['another header', () => ({ 'x-api-key': token, cookie: `token=${token}` })],
];

const overMcp = (name: string, headers: Headers, query = ''): Promise<Said> => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
  return http('POST', `${base}/mcp${query}`, { ...json, ...headers }, JSON.stringify(message));
};
const overRest = (name: string, headers: Headers, query = ''): Promise<Said> =>
  http('POST', `${base}/api/tools/${name}${query}`, { ...json, ...headers }, '{}');

/** Beyond what needs no credential, every answer without a good one is 401. */
function expected(operation: Operation, headers: Headers): boolean {
  return operation.action === 'anonymous' && !('authorization' in headers);
}

describe('without a credential that holds', () => {
  const everything = [...CATALOGUE, ...BOX_OPERATIONS];

  test.each(NONE)('nothing opens at either endpoint: %s', async (_name, make) => {
    const headers = make();
    const opened: string[] = [];
    for (const operation of everything) {
      for (const [door, ask] of Object.entries({ overMcp, overRest })) {
        const { status } = await ask(operation.name, headers);
        // Refused for its missing arguments only: the endpoint itself let the call pass.
        if (status !== 401 && !expected(operation, headers)) opened.push(`${door} ${operation.name}: ${status}`);
        if (status === 401 && expected(operation, headers)) opened.push(`${door} ${operation.name} is shut`);
      }
    }
    expect(opened).toEqual([]);
  });

  test('a token in the query is none', async () => {
    const opened: string[] = [];
    for (const { name, action } of CATALOGUE.filter((one) => one.action !== 'anonymous')) {
      for (const query of [`?token=${token}`, `?access_token=${token}`]) {
        for (const said of [await overMcp(name, {}, query), await overRest(name, {}, query)]) {
          if (said.status !== 401) opened.push(`${name} ${action} ${said.status}`);
        }
      }
    }
    expect(opened).toEqual([]);
  });

  test('no route of its own opens', async () => {
    const routed = CATALOGUE.flatMap(({ rest, name }) => (rest === undefined ? [] : [{ ...rest, name }]));
    expect(routed.length).toBeGreaterThan(15);
    const paths = [...routed, { method: 'GET', path: '/api/services/svc_1/env', name: 'get_service_environment' }];
    for (const [, make] of NONE) {
      for (const { method, path, name } of paths) {
        const url = `${base}${path.replaceAll(/::?(\w+)/g, (whole, word: string) => (whole.startsWith('::') ? `:${word}` : 'x_1'))}`;
        const said = await http(method, url, { ...json, ...make() }, method.startsWith('P') ? '{}' : '');
        expect([name, said.status]).toEqual([name, 401]);
      }
    }
  });

  test('two tools are listed, and a ping is answered', async () => {
    const wanted = CATALOGUE.filter((one) => one.action === 'anonymous').map((one) => one.name);
    expect(wanted).toHaveLength(2);
    expect(toolNames(await rpc(base, 'tools/list'))).toEqual(wanted);
    const { tools } = (await http('GET', `${base}/api/tools`)).json as { tools: { name: string }[] };
    expect(tools.map((one) => one.name)).toEqual(wanted);
    for (const [, make] of NONE) {
      const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const said = await http('POST', `${base}/mcp`, { ...json, ...make() }, ping);
      expect([said.status, said.json?.['result']]).toEqual([200, {}]);
    }
  });
});

describe('with a token', () => {
  const trims = ['', '?toolsets=sms', '?toolsets=core', '?tools=whoami', '?toolsets=nonsense'];
  const bearer = (): Headers => ({ authorization: `Bearer ${token}` });

  test.each(trims)('every operation can be called by its name, whatever is listed: %s', async (query) => {
    const unknown: string[] = [];
    for (const { name } of CATALOGUE.filter((one) => one.action !== 'anonymous')) {
      const said = await overMcp(name, bearer(), query);
      if ((said.json?.['result'] as { structuredContent?: object } | undefined)?.structuredContent === undefined) {
        unknown.push(`${name}: ${said.text.slice(0, 200)}`);
      }
    }
    expect(unknown).toEqual([]);
  });

  test('nothing of the operator’s is listed or known', async () => {
    const listed = toolNames(await rpc(base, 'tools/list', {}, { authorization: `Bearer ${token}` }));
    const { tools } = (await http('GET', `${base}/api/tools`, bearer())).json as { tools: { name: string }[] };
    const reserved = [...CATALOGUE.filter((one) => one.operatorOnly === true), ...BOX_OPERATIONS];
    for (const { name, socketOnly } of reserved) {
      expect(listed).not.toContain(name);
      expect(tools.map((one) => one.name)).not.toContain(name);
      const [mcp, rest] = [await overMcp(name, bearer()), await overRest(name, bearer())];
      expect(mcp.text, name).toMatch(socketOnly === true ? /Unknown tool/ : /out_of_scope/);
      expect(rest.status, name).toBe(socketOnly === true ? 404 : 403);
    }
  });
});
