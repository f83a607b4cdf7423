/** A JSON-RPC message as a client wrote it; nothing of it is sure but that it is an object. */
export type Message = Readonly<Record<string, unknown>>;

export type Id = string | number | null;

const VERSION_META = 'io.modelcontextprotocol/protocolVersion';
/** Which field of the parameters the Mcp-Name header repeats. MCP 2026-07-28, standard request headers. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** Undefined: the line is no JSON object. */
export function readMessage(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}

/** The id of a request; undefined for a notification and for an answer. */
export function idOf(message: Message): Id | undefined {
  if (typeof message['method'] !== 'string') return undefined;
  const id = message['id'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** Whether it answers the request of this id. */
export function answers(message: Message, id: Id): boolean {
  return message['id'] === id && ('result' in message || 'error' in message);
}

/** What a message is refused with when the server itself said nothing of the kind. */
export function failure(id: Id, code: number, message: string, data?: object): Message {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

/**
 * The headers that repeat what the body says. The current revision names itself in every message and wants them; the
 * older ones agreed on a version in the handshake, which `agreed` is.
 */
export function protocolHeaders(message: Message, agreed: string | undefined): Record<string, string> {
  const version = metaOf(message)[VERSION_META];
  if (typeof version !== 'string') return agreed === undefined ? {} : { 'mcp-protocol-version': agreed };
  const method = String(message['method']);
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const name = field === undefined ? undefined : paramsOf(message)[field];
  return {
    'mcp-protocol-version': headerValue(version),
    'mcp-method': headerValue(method),
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

/** Text that is no plain header value goes as base64, marked as such; so does what would be taken for that. */
function headerValue(text: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

export function paramsOf(message: Message): Message {
  return asObject(message['params']);
}

function metaOf(message: Message): Message {
  return asObject(paramsOf(message)['_meta']);
}

function asObject(value: unknown): Message {
  return typeof value === 'object' && value !== null ? (value as Message) : {};
}
