import { Readable } from 'node:stream';

/** An HTTP response before it is written. */
export interface McpResponse {
  status: number;
  headers: Record<string, string>;
  /** JSON, or '' for none. */
  body: string;
}

/** A streamed HTTP response. */
export interface McpStream {
  status: number;
  headers: Record<string, string>;
  events: Readable;
}

/** The id of a JSON-RPC request, or null where there is none to echo. */
export type RpcId = string | number | null;

export function rpcIdOf(message: unknown): RpcId {
  const id = (message as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** A JSON-RPC result from serialized JSON. */
export function rpcResult(id: RpcId, result: string): McpResponse {
  return json(200, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
}

/**
 * A JSON-RPC error. Transport errors use the HTTP status as code, because codes below -32000 are reserved. `data.error` is
 * the error name.
 */
export function rpcError(
  id: RpcId,
  code: number,
  message: string,
  { status = 200, data, headers = {} }: { status?: number; data?: object; headers?: Record<string, string> } = {},
): McpResponse {
  const error = { code, message, ...(data !== undefined && { data }) };
  const answer = json(status, JSON.stringify({ jsonrpc: '2.0', id, error }));
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** Streams messages: `work` sends notifications and returns the final response. */
export function rpcStream(
  headers: Record<string, string>,
  work: (send: (message: object) => void) => Promise<McpResponse>,
): McpStream {
  const events = new Readable({ read: () => undefined });
  const event = (json: string): void => void events.push(`event: message\ndata: ${json}\n\n`);
  void work((message) => event(JSON.stringify(message))).then(
    (last) => {
      event(last.body);
      events.push(null);
    },
    (error: unknown) => events.destroy(error as Error),
  );
  const own = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
  return { status: 200, headers: { ...headers, ...own }, events };
}

export function empty(status: number, headers: Record<string, string> = {}): McpResponse {
  return { status, headers, body: '' };
}

function json(status: number, body: string): McpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body };
}

/** 429. */
export function rateLimited(id: RpcId, retryAfterSeconds: number): McpResponse {
  return rpcError(id, 429, 'rate_limited', {
    status: 429,
    data: { error: 'rate_limited', retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}

export function sessionEnded(id: RpcId): McpResponse {
  return rpcError(id, 404, 'This session has ended: send initialize again', {
    status: 404,
    data: { error: 'session_not_found' },
  });
}

export function notAllowed(): McpResponse {
  return rpcError(null, -32600, 'Method not allowed: this server has no server-initiated stream', {
    status: 405,
    headers: { allow: 'POST, DELETE, OPTIONS' },
  });
}
