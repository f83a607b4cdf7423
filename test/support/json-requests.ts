import type { Random } from './imap-fuzz.ts';
import { damaged, likelyArguments, oddValue, pick, type Schema } from './json-fuzz.ts';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Data from which the requests are made. */
export interface FuzzGround {
  tools: readonly { name: string; inputSchema: Schema }[];
  token: string;
  /** A session of that token. */
  session: string;
}

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'server/discover',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'notifications/initialized',
  'notifications/cancelled',
  'tasks/get',
  'rpc.discover',
  '',
  '__proto__',
] as const;
const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2024-11-05', '1999-01-01', '9999', ''] as const;
const TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'application/json ;',
  'APPLICATION/JSON',
  'application/jsonp',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'application/octet-stream',
  ';',
] as const;
const TOOL_NAMES = ['nothing', '__proto__', 'constructor', 'toString', '%00', 'a'.repeat(3_000), '\u{1f511}'] as const;

/** Makes one request to the MCP endpoint or to a tool over REST; one of 20 is valid. */
export function fuzzRequest(random: Random, ground: FuzzGround): FuzzRequest {
  const { path, text, headers } = random(3) === 0 ? restCall(random, ground) : mcpCall(random, ground);
  const body = random(12) === 0 ? damaged(random, text) : Buffer.from(text);
  const method = random(40) === 0 ? pick(random, ['PUT', 'DELETE', 'GET', 'PATCH', 'OPTIONS']) : 'POST';
  return { method, path, headers: { ...commonHeaders(random, ground), ...headers }, body };
}

function commonHeaders(random: Random, { token, session }: FuzzGround): Record<string, string> {
  const headers: Record<string, string> = {};
  if (random(25) > 0) headers['content-type'] = random(15) === 0 ? pick(random, TYPES) : 'application/json';
  if (random(16) > 0) headers['authorization'] = `Bearer ${token}`;
  if (random(60) === 0)
    headers['authorization'] = pick(random, ['Bearer', 'Basic x', `Bearer ${token}x`, 'Bearer mst_']);
  if (random(10) === 0) headers['mcp-session-id'] = random(3) === 0 ? 'ses_nonsense' : session;
  if (random(8) === 0) headers['accept'] = pick(random, ['*/*', 'text/event-stream', 'application/json', 'x', ';q=']);
  if (random(25) === 0) headers['x-service-toolsets'] = pick(random, ['core', ',,,', 'x'.repeat(9_000), '__proto__']);
  if (random(40) === 0) headers['origin'] = pick(random, ['null', 'http://127.0.0.1', 'https://evil.test', 'x']);
  if (random(60) === 0) headers['content-encoding'] = pick(random, ['gzip', 'br', 'identity', 'x']);
  return headers;
}

function someTool(random: Random, { tools }: FuzzGround): { name: string; args: string } {
  const { name, inputSchema } = pick(random, tools);
  const args =
    random(8) === 0 ? oddValue(random) : likelyArguments(random, inputSchema, pick(random, [0, 15, 60, 100]));
  return { name: random(25) === 0 ? pick(random, TOOL_NAMES) : name, args };
}

interface Drafted {
  path: string;
  text: string;
  headers: Record<string, string>;
}

function restCall(random: Random, ground: FuzzGround): Drafted {
  const { name, args } = someTool(random, ground);
  const query = random(30) === 0 ? pick(random, ['?a=%00', '?__proto__[x]=1', '?%', `?${'a&'.repeat(2_000)}`]) : '';
  const path = `/api/tools/${random(10) === 0 ? encodeURIComponent(name) : name.replace(/[^\w%]/gu, '')}${query}`;
  return { path, text: args, headers: {} };
}

function mcpCall(random: Random, ground: FuzzGround): Drafted {
  const { name, args } = someTool(random, ground);
  const method = random(3) > 0 ? 'tools/call' : pick(random, METHODS);
  const modern = random(4) === 0;
  const version = random(10) === 0 ? pick(random, VERSIONS) : '2026-07-28';
  const params: Record<string, string> = { name: JSON.stringify(name), arguments: args };
  if (method.startsWith('resources/')) params['uri'] = oddValue(random);
  if (method === 'initialize') params['protocolVersion'] = JSON.stringify(pick(random, VERSIONS));
  if (modern) params['_meta'] = meta(random, version);
  const members: Record<string, string> = {
    jsonrpc: '"2.0"',
    id: String(random(1e6)),
    method: JSON.stringify(method),
    params: written(params),
  };
  const hurt = random(4);
  if (hurt === 0) members[pick(random, Object.keys(members))] = oddValue(random);
  if (hurt === 1 && random(3) === 0) delete members[pick(random, Object.keys(members))];
  const doubled = random(25) === 0 ? `,"${pick(random, Object.keys(members))}":${oddValue(random)}` : '';
  const one = `${written(members).slice(0, -1)}${doubled}}`;
  const headers = modern && random(12) > 0 ? mirrored(random, version, method, name) : {};
  if (!modern && random(12) === 0) headers['mcp-protocol-version'] = pick(random, VERSIONS);
  const query = random(15) === 0 ? pick(random, ['?toolsets=core,mail', '?readonly=1', '?tools=%', '?a', '?=&&']) : '';
  return {
    path: `/mcp${random(30) === 0 ? '/' : ''}${query}`,
    text: random(40) === 0 ? `[${one},${one}]` : one,
    headers,
  };
}

/** Headers that repeat parts of the request, as a revision without a handshake requires. */
function mirrored(random: Random, version: string, method: string, name: string): Record<string, string> {
  const wrong = random(15) === 0;
  return {
    'mcp-protocol-version': wrong ? pick(random, VERSIONS) : version,
    'mcp-method': method,
    'mcp-name': random(15) === 0 ? 'another' : name.replace(/[^\x21-\x7e]/gu, '?'),
  };
}

function meta(random: Random, version: string): string {
  const odd = random(10) === 0;
  return written({
    '"io.modelcontextprotocol/protocolVersion"': odd ? oddValue(random) : JSON.stringify(version),
    '"io.modelcontextprotocol/clientCapabilities"': random(12) === 0 ? oddValue(random) : '{}',
    ...(random(4) === 0 && { '"progressToken"': oddValue(random) }),
    ...(random(9) === 0 && { '"io.modelcontextprotocol/logLevel"': oddValue(random) }),
  });
}

/** Members as JSON text, whatever their values are. Names may be quoted already. */
function written(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, value]) => `${name.startsWith('"') ? name : JSON.stringify(name)}:${value}`)
    .join()}}`;
}
