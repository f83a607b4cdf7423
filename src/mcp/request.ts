import { parseBounded } from '../http/json.ts';
import { type McpAnswer, rpcError, type RpcId, rpcIdOf } from './answer.ts';

const MODERN_VERSION = 'io.modelcontextprotocol/protocolVersion';

/** One POST as the door sees it. */
export interface McpRequest {
  url: URL;
  ip: string;
  readonly header: (name: string) => string | undefined;
  /** Every value, so that two are seen to be two. */
  authorization: string | string[] | undefined;
  body: string;
  /** A signal for when whoever asked is gone; made when it is asked for. */
  readonly gone: () => AbortSignal;
}

/** A JSON-RPC request or notification. */
export interface Message extends Record<string, unknown> {
  method: string;
  params: Record<string, unknown>;
}

export type Read = { kind: 'message'; message: Message } | { kind: 'bad'; answer: McpAnswer };

/** One JSON-RPC message, or the answer to what is none. */
export function readMessage(body: string): Read {
  const bad = (id: RpcId, code: number, why: string): Read => ({
    kind: 'bad',
    answer: rpcError(id, code, why, { status: 400 }),
  });
  const parsed = parseBounded(body);
  if (!parsed.ok) return bad(null, -32700, parsed.problem);
  const { value } = parsed;
  if (Array.isArray(value)) return bad(null, -32600, 'Batches are not taken: send one request');
  if (typeof value !== 'object' || value === null) return bad(null, -32600, 'A JSON-RPC object is needed');
  const message = value as Record<string, unknown>;
  const { method, params = {}, id } = message;
  const isId = !('id' in message) || typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));
  const isParams = typeof params === 'object' && params !== null && !Array.isArray(params);
  if (message['jsonrpc'] !== '2.0' || typeof method !== 'string' || !isId || !isParams) {
    return bad(rpcIdOf(message), -32600, 'This is no JSON-RPC 2.0 request: jsonrpc, method, params, id');
  }
  const given = params as Record<string, unknown>;
  const fitted = given['arguments'] === null ? { ...given, arguments: {} } : given;
  return { kind: 'message', message: { ...message, method, params: fitted } };
}

/** A revision without a handshake names itself in every request, or in its header. */
export function isModern({ params }: Message, request: McpRequest): boolean {
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

/** What methods beyond tools need; the library would take what is missing, or of another type, for a fault of its own. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  'resources/read': { uri: (value) => typeof value === 'string' },
  'prompts/get': { name: (value) => typeof value === 'string', arguments: areTexts },
  'completion/complete': {
    ref: isReference,
    argument: (value) => isObject(value) && typeof value['name'] === 'string' && typeof value['value'] === 'string',
    context: (value) => value === undefined || (isObject(value) && areTexts(value['arguments'])),
  },
};

/** The parameter that a request lacks, or has in another form; undefined: none. */
export function lackingParam({ method, params }: Message): string | undefined {
  const needed = Object.hasOwn(NEEDED, method) ? Object.entries(NEEDED[method] ?? {}) : [];
  return needed.find(([name, fits]) => !fits(params[name]))?.[0];
}

/** Whether a client of the older revisions takes messages as they come. */
export function acceptsStream(request: McpRequest): boolean {
  return (request.header('accept') ?? '').includes('text/event-stream');
}

/** What a client wants to be told the progress of a request under. */
export function progressTokenOf(params: Record<string, unknown>): string | number | undefined {
  const token = (params['_meta'] as { progressToken?: unknown } | null | undefined)?.progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** The request for the library, which insists on an Accept that plain clients do not send. */
export function webRequest(request: McpRequest): Request {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' });
  for (const name of ['mcp-protocol-version', 'mcp-method', 'mcp-name']) {
    const value = request.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request(request.url, { method: 'POST', headers, body: request.body });
}
