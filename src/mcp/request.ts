import { parseBounded } from '../core/json.ts';
import { type McpResponse, rpcError, type RpcId, rpcIdOf } from './rpc-response.ts';

const MODERN_VERSION = 'io.modelcontextprotocol/protocolVersion';

/** One MCP POST request. */
export interface McpRequest {
  url: URL;
  ip: string;
  readonly header: (name: string) => string | undefined;
  /** All Authorization headers, so that duplicates are detected. */
  authorization: string | string[] | undefined;
  body: string;
  /** Creates a signal that aborts when the client disconnects. */
  readonly closed: () => AbortSignal;
  /** Called with the actor of the request. */
  readonly loggedIn?: (actor: string) => void;
}

/** A JSON-RPC request or notification. */
export interface RpcMessage extends Record<string, unknown> {
  method: string;
  params: Record<string, unknown>;
}

export type ReadResult = { kind: 'message'; message: RpcMessage } | { kind: 'bad'; answer: McpResponse };

/** Parses one JSON-RPC message; else the error response. */
export function readRpcMessage(body: string): ReadResult {
  const bad = (id: RpcId, code: number, why: string): ReadResult => ({
    kind: 'bad',
    answer: rpcError(id, code, why, { status: 400 }),
  });
  const parsed = parseBounded(body);
  if (!parsed.ok) return bad(null, -32700, parsed.problem);
  const { value } = parsed;
  if (Array.isArray(value)) return bad(null, -32600, 'Batches are not supported: send one request');
  if (typeof value !== 'object' || value === null) return bad(null, -32600, 'Expected a JSON-RPC object');
  const message = value as Record<string, unknown>;
  const { method, params = {}, id } = message;
  const isId = !('id' in message) || typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));
  const isParams = typeof params === 'object' && params !== null && !Array.isArray(params);
  if (message['jsonrpc'] !== '2.0' || typeof method !== 'string' || !isId || !isParams) {
    return bad(rpcIdOf(message), -32600, 'Invalid JSON-RPC 2.0 request: check jsonrpc, method, params and id');
  }
  const given = params as Record<string, unknown>;
  const fitted = given['arguments'] === null ? { ...given, arguments: {} } : given;
  return { kind: 'message', message: { ...message, method, params: fitted } };
}

/** True for the revision without a handshake, which names itself in every request or in its header. */
export function isModern({ params }: RpcMessage, request: McpRequest): boolean {
  const meta = params['_meta'];
  if (typeof meta === 'object' && meta !== null && MODERN_VERSION in meta) return true;
  return (request.header('mcp-protocol-version') ?? '') >= '2026';
}

type Params = Record<string, unknown>;

const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const areTexts = (value: unknown): boolean =>
  value === undefined || (isObject(value) && Object.values(value).every((one) => typeof one === 'string'));
const isReference = (ref: unknown): boolean =>
  isObject(ref) &&
  ((ref['type'] === 'ref/prompt' && typeof ref['name'] === 'string') ||
    (ref['type'] === 'ref/resource' && typeof ref['uri'] === 'string'));

/** Required parameters. The library would report a missing one or a wrong type as an internal error. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  'resources/read': { uri: (value) => typeof value === 'string' },
  'prompts/get': { name: (value) => typeof value === 'string', arguments: areTexts },
  'completion/complete': {
    ref: isReference,
    argument: (value) => isObject(value) && typeof value['name'] === 'string' && typeof value['value'] === 'string',
    context: (value) => value === undefined || (isObject(value) && areTexts(value['arguments'])),
  },
};

/** First required parameter that is missing or has the wrong type. */
export function lackingParam({ method, params }: RpcMessage): string | undefined {
  const needed = Object.hasOwn(NEEDED, method) ? Object.entries(NEEDED[method] ?? {}) : [];
  return needed.find(([name, fits]) => !fits(params[name]))?.[0];
}

/** True if a client of the older revisions accepts server-sent events. */
export function acceptsStream(request: McpRequest): boolean {
  return (request.header('accept') ?? '').includes('text/event-stream');
}

/** Progress token of a request. */
export function progressTokenOf(params: Record<string, unknown>): string | number | undefined {
  const token = (params['_meta'] as { progressToken?: unknown } | null | undefined)?.progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** Request for the library, with the Accept header that it requires and plain clients omit. */
export function webRequest(request: McpRequest): Request {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' });
  for (const name of ['mcp-protocol-version', 'mcp-method', 'mcp-name']) {
    const value = request.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request(request.url, { method: 'POST', headers, body: request.body });
}
