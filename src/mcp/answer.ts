import { Readable } from 'node:stream';

/** An HTTP answer before it is written. */
export interface McpAnswer {
  status: number;
  headers: Record<string, string>;
  /** JSON, or '' for none. */
  body: string;
}

/** An HTTP answer that is written as it comes. */
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

/** A JSON-RPC result whose JSON is there already. */
export function rpcResult(id: RpcId, result: string): McpAnswer {
  return json(200, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
}

/**
 * A JSON-RPC error. Refusals of the transport have the HTTP status as their code: the range below -32000 belongs to the
 * protocol. `data.error` repeats the code as a word.
 */
export function rpcError(
  id: RpcId,
  code: number,
  message: string,
  { status = 200, data, headers = {} }: { status?: number; data?: object; headers?: Record<string, string> } = {},
): McpAnswer {
  const error = { code, message, ...(data !== undefined && { data }) };
  const answer = json(status, JSON.stringify({ jsonrpc: '2.0', id, error }));
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** Messages as they come: `work` is given what sends one, and answers the last. */
export function rpcStream(
  headers: Record<string, string>,
  work: (send: (message: object) => void) => Promise<McpAnswer>,
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

export function empty(status: number, headers: Record<string, string> = {}): McpAnswer {
  return { status, headers, body: '' };
}

function json(status: number, body: string): McpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body };
}
