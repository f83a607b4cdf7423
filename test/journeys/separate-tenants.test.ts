import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { newOrganization, rpc, tool } from '../support/mcp.ts';

const ORGANIZATIONS = 20;
const CLIENTS = 200;
const CALLS_EACH = 20;

let box: Box;
let base: string;
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

beforeAll(async () => {
  // Loopback is not counted here: the limits have tests of their own.
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
});
afterAll(async () => {
  agent.destroy();
  await box[Symbol.asyncDispose]();
});

interface Own {
  word: string;
  token: string;
  session: string;
}

async function organization(i: number): Promise<Own> {
  const word = `word${String(i).padStart(2, '0')}word`;
  const { token } = await newOrganization(base, word);
  await tool(base, 'create_service', { name: `${word} service` }, token);
  await tool(base, 'create_project', { name: `${word} project` }, token);
  const bearer = { authorization: `Bearer ${token}` };
  const first = await rpc(base, 'tools/call', { name: 'whoami', arguments: {} }, bearer);
  return { word, token, session: String(first.headers['mcp-session-id']) };
}

function post(headers: Record<string, string>, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const queried = request(`${base}/mcp`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    queried.on('error', reject);
    queried.end(body);
  });
}

const TOOLS = ['whoami', 'bootstrap', 'list_services', 'list_projects', 'list_audit_events', 'list_agent_tokens'];
/** The current revision goes through the library, whose servers are made for each request. */
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

test('two hundred clients of twenty organizations, all with the same ids, see their own and nothing else', async () => {
  const all = await Promise.all(Array.from({ length: ORGANIZATIONS }, (_, i) => organization(i)));
  const foreign: string[] = [];
  let own = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const { word, token, session } = all[client % ORGANIZATIONS] as Own;
      for (let i = 0; i < CALLS_EACH; i++) {
        const name = TOOLS[(client + i) % TOOLS.length] ?? '';
        const modern = (client + i) % 5 === 0;
        const params = { name, arguments: {}, ...(modern && { _meta: MODERN }) };
        const headers = {
          'content-type': 'application/json',
          ...((client + i) % 2 === 0 || modern ? { authorization: `Bearer ${token}` } : { 'mcp-session-id': session }),
          ...(modern && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }),
        };
        const text = await post(headers, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
        if (text.includes(word)) own++;
        else foreign.push(`${name}: ${text.slice(0, 200)}`);
        for (const other of text.match(/word\d\dword/g) ?? []) {
          if (other !== word) foreign.push(`${word} saw ${other} by ${name}`);
        }
      }
    }),
  );
  // Tokens have no word of their organization in their names.
  expect(foreign.filter((one) => !one.startsWith('list_agent_tokens: '))).toEqual([]);
  expect(own).toBeGreaterThan((CLIENTS * CALLS_EACH * 4) / 5);
});
