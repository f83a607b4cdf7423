import type { IncomingMessage } from 'node:http';
import type { RemoteEndpoint } from './endpoint.ts';
import { eventData } from './events.ts';

const SESSION = 'mcp-session-id';

/** Output of the bridge: messages for the client, and warnings for its log. */
export interface BridgeOutput {
  message(message: JsonRpcMessage): void;
  warn(sentence: string): void;
}

interface InFlightRequest {
  done: Promise<void>;
  abort: AbortController;
  method: unknown;
}

/**
 * Relays JSON-RPC between a stdio client and the MCP endpoint of a server. Adds the HTTP headers of each MCP revision.
 * Every request gets a response: the server's, or a JSON-RPC error.
 */
export class StdioBridge {
  readonly #endpoint: Pick<RemoteEndpoint, 'post'>;
  readonly #out: BridgeOutput;
  readonly #inFlight = new Map<JsonRpcId | symbol, InFlightRequest>();
  #handshake: Promise<void> = Promise.resolve();
  #version: string | undefined;
  #session: string | undefined;

  constructor(endpoint: Pick<RemoteEndpoint, 'post'>, out: BridgeOutput) {
    this.#endpoint = endpoint;
    this.#out = out;
  }

  /** Sends one line of the client to the server. */
  send(line: string): void {
    if (line.trim() === '') return;
    const message = readMessage(line);
    if (message === undefined) {
      this.#out.message(errorResponse(null, -32700, 'Each line must be one JSON-RPC object'));
      return;
    }
    if (message['method'] === 'notifications/cancelled') return this.#cancel(paramsOf(message)['requestId']);
    const id = idOf(message);
    const abort = new AbortController();
    const key = id ?? Symbol('notification');
    const done = this.#exchange(message, id, abort.signal).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, { done, abort, method: message['method'] });
    // Later requests must name the negotiated version.
    if (message['method'] === 'initialize') this.#handshake = done;
  }

  /** Resolves when all requests are answered. Aborts endless streams. */
  async finish(): Promise<void> {
    for (const { method, abort } of this.#inFlight.values()) if (method === 'subscriptions/listen') abort.abort();
    await Promise.all([...this.#inFlight.values()].map((one) => one.done));
  }

  /** Cancels a request by closing its HTTP connection. */
  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#inFlight.get(id)?.abort.abort();
  }

  /** Never rejects. */
  async #exchange(message: JsonRpcMessage, id: JsonRpcId | undefined, signal: AbortSignal): Promise<void> {
    try {
      if (message['method'] === 'initialize') this.#version = this.#session = undefined;
      else await this.#handshake;
      const headers = {
        ...protocolHeaders(message, this.#version),
        ...(this.#session !== undefined && { [SESSION]: this.#session }),
      };
      const response = await this.#endpoint.post(headers, JSON.stringify(message), signal);
      const session = response.headers[SESSION];
      if (typeof session === 'string') this.#session = session;
      if (await this.#deliver(message, id, response)) return;
      this.#fail(id, response.statusCode ?? 502, 'The server sent no response');
    } catch (error) {
      if (!signal.aborted) this.#fail(id, 503, `Server unreachable: ${(error as Error).message}`);
    }
  }

  /** Passes on the server's messages; true if the request was answered. */
  async #deliver(message: JsonRpcMessage, id: JsonRpcId | undefined, response: IncomingMessage): Promise<boolean> {
    const type = response.headers['content-type'] ?? '';
    if (!type.startsWith('text/event-stream')) return this.#deliverOne(message, id, response, await textOf(response));
    let settled = id === undefined;
    for await (const data of eventData(response)) {
      const reply = readMessage(data);
      if (reply === undefined) continue;
      settled ||= id !== undefined && isResponseTo(reply, id);
      this.#out.message(reply);
    }
    return settled;
  }

  #deliverOne(
    message: JsonRpcMessage,
    id: JsonRpcId | undefined,
    { statusCode = 0 }: IncomingMessage,
    text: string,
  ): boolean {
    const reply = readMessage(text);
    if (statusCode === 404 && text.includes('session_not_found')) this.#session = undefined;
    if (id === undefined) {
      if (statusCode >= 400) this.#out.warn(`a notification was refused with ${statusCode}: ${text.slice(0, 300)}`);
      return true;
    }
    if (reply === undefined || !('result' in reply || 'error' in reply)) return false;
    const version = (reply['result'] as JsonRpcMessage | undefined)?.['protocolVersion'];
    if (message['method'] === 'initialize' && typeof version === 'string') this.#version = version;
    // Errors sent before the body was parsed have no id.
    this.#out.message({ ...reply, id });
    return true;
  }

  #fail(id: JsonRpcId | undefined, code: number, sentence: string): void {
    if (id === undefined) this.#out.warn(sentence);
    else this.#out.message(errorResponse(id, code, sentence, { error: 'unavailable' }));
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response as AsyncIterable<string>) text += chunk;
  return text;
}

/** A JSON-RPC message, not validated beyond being an object. */
type JsonRpcMessage = Readonly<Record<string, unknown>>;

type JsonRpcId = string | number | null;

const VERSION_META = 'io.modelcontextprotocol/protocolVersion';
/** The parameter that the Mcp-Name header repeats, by method. MCP 2026-07-28, standard request headers. */
const NAME_PARAMETERS: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** Parses a line; undefined if it is not a JSON object. */
function readMessage(line: string): JsonRpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRpcMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** Id of a request; undefined for notifications and responses. */
function idOf(message: JsonRpcMessage): JsonRpcId | undefined {
  if (typeof message['method'] !== 'string') return undefined;
  const id = message['id'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** True if the message is the response to the request of this id. */
function isResponseTo(message: JsonRpcMessage, id: JsonRpcId): boolean {
  return message['id'] === id && ('result' in message || 'error' in message);
}

/** A JSON-RPC error created by the bridge. */
function errorResponse(id: JsonRpcId, code: number, message: string, data?: object): JsonRpcMessage {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

/**
 * HTTP headers that repeat fields of the body. The current revision requires them and names itself in every message; for
 * older ones `negotiated` is the version of the handshake.
 */
export function protocolHeaders(message: JsonRpcMessage, negotiated: string | undefined): Record<string, string> {
  const version = metaOf(message)[VERSION_META];
  if (typeof version !== 'string') return negotiated === undefined ? {} : { 'mcp-protocol-version': negotiated };
  const method = String(message['method']);
  const field = Object.hasOwn(NAME_PARAMETERS, method) ? NAME_PARAMETERS[method] : undefined;
  const name = field === undefined ? undefined : paramsOf(message)[field];
  return {
    'mcp-protocol-version': headerValue(version),
    'mcp-method': headerValue(method),
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

/** Encodes text that is not a plain header value, or looks encoded, as marked base64. */
function headerValue(text: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function paramsOf(message: JsonRpcMessage): JsonRpcMessage {
  return asObject(message['params']);
}

function metaOf(message: JsonRpcMessage): JsonRpcMessage {
  return asObject(paramsOf(message)['_meta']);
}

function asObject(value: unknown): JsonRpcMessage {
  return typeof value === 'object' && value !== null ? (value as JsonRpcMessage) : {};
}
