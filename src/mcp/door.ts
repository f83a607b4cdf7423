import type { Caller } from '../operations/caller.ts';
import type { Audience } from '../operations/operation.ts';
import type { World } from '../operations/world.ts';
import { version } from '../version.ts';
import { findToken } from '../tokens/commands.ts';
import { secretHash } from '../tokens/token.ts';
import {
  empty,
  type McpAnswer,
  type McpStream,
  rpcError,
  type RpcId,
  rpcIdOf,
  rpcResult,
  rpcStream,
} from './answer.ts';
import { insufficientScope, unauthorized } from './challenge.ts';
import type { Library, Served } from './library.ts';
import type { Called, Offer } from './offer.ts';
import { type Principal, principalOf } from './principal.ts';
import { flooded, notAllowed, sessionGone } from './refusals.ts';
import {
  acceptsStream,
  isModern,
  lackingParam,
  type McpRequest,
  type Message,
  progressTokenOf,
  readMessage,
  webRequest,
} from './request.ts';
import { bindSession, endSession, sessionState } from './session-commands.ts';
import { type SessionId, SessionIds } from './session-id.ts';
import { retryAfter, toolResult } from './tool-result.ts';
import { readTrim, type Trim } from './trim.ts';

export const SESSION_HEADER = 'mcp-session-id';
/** Revisions that had a handshake, newest first; the current one says its name in every request. */
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const OPEN_METHODS = new Set(['initialize', 'server/discover', 'tools/list']);

/** What one request has come to on its way through the door. */
interface Exchange {
  request: McpRequest;
  message: Message;
  id: RpcId;
  caller: Caller;
  session: SessionId | undefined;
  trim: Trim;
  /** Answer headers that were earned on the way. */
  headers: Record<string, string>;
}

/** The MCP door: both eras of the protocol, and a bare curl, on one endpoint. spec: 2026-07-28 and 2025-11-25. */
export class McpDoor {
  readonly #world: World;
  readonly #offer: Offer;
  readonly #ids: SessionIds;
  #library: Promise<Library> | undefined;

  constructor(world: World, offer: Offer) {
    this.#world = world;
    this.#offer = offer;
    this.#ids = new SessionIds(world.secrets.subkey('mcp session'));
  }

  async post(request: McpRequest): Promise<McpAnswer | McpStream | Response> {
    const read = readMessage(request.body);
    if (read.kind === 'bad') return read.answer;
    const { message } = read;
    const id = rpcIdOf(message);
    const modern = isModern(message, request);
    // Before anything is known of who asks: it is how people find out whether the box is there.
    if (message.method === 'ping' && !modern) return 'id' in message ? rpcResult(id, '{}') : empty(202);
    const principal = await principalOf(this.#world, this.#ids, {
      authorization: request.authorization,
      // A handshake begins anew, whatever session the client still remembers.
      sessionText: modern || message.method === 'initialize' ? undefined : request.header(SESSION_HEADER),
      ip: request.ip,
    });
    const refused = await this.#refusal(principal, message, id, request);
    if (refused !== undefined) return refused;
    const { caller, session } = principal as Principal & { kind: 'caller' };
    const trim = readTrim(request.url.searchParams, request.header);
    const exchange: Exchange = { request, message, id, caller, session, trim, headers: {} };
    const lacking = await this.#lacking(exchange);
    if (lacking !== undefined) return lacking;
    return modern ? this.#modern(exchange) : this.#legacy(exchange);
  }

  /** Ends a session that this box gave out. */
  async delete(sessionText: string | undefined): Promise<McpAnswer> {
    if (sessionText === undefined) return notAllowed();
    const session = this.#ids.read(sessionText);
    const gone = session === undefined || session.expiresAt <= this.#world.clock();
    if (gone || (await this.#world.store.read(sessionState, { nonce: session.nonce })).ended) return sessionGone(null);
    await this.#world.store.write(endSession, { nonce: session.nonce, expiresAt: session.expiresAt });
    return empty(204);
  }

  async close(): Promise<void> {
    await (await this.#library)?.close();
  }

  async #refusal(
    principal: Principal,
    message: Message,
    id: RpcId,
    { ip, url }: McpRequest,
  ): Promise<McpAnswer | undefined> {
    const token = principal.kind === 'caller' ? principal.caller.token?.id : undefined;
    const wait = this.#world.limits.take(ip, token, this.#world.clock());
    if (wait > 0) return flooded(id, wait);
    if (principal.kind === 'session-gone') return sessionGone(id);
    const base = this.#world.baseUrl();
    if (principal.kind === 'unauthorized') return unauthorized(base, id, { ...principal, presented: true });
    if (principal.caller.kind !== 'anonymous') return undefined;
    // Hosts that can sign a person in do so when they are refused at once, and not when a tool is.
    const openly = url.searchParams.get('auth') !== 'required';
    if (openly && (await this.#isOpen(message))) return undefined;
    const why = 'send a token as "Authorization: Bearer <token>"';
    return unauthorized(base, id, { code: 'unauthorized', why, presented: false });
  }

  async #isOpen({ method, params }: Message): Promise<boolean> {
    if (OPEN_METHODS.has(method) || method.startsWith('notifications/')) return true;
    return method === 'tools/call' && typeof params['name'] === 'string' && this.#offer.isAnonymous(params['name']);
  }

  /** A program that a person let in gets a challenge for what it lacks, and not an error of the tool. */
  async #lacking({ message, id, caller, trim }: Exchange): Promise<McpAnswer | undefined> {
    const { name, arguments: args } = message.params;
    if (message.method !== 'tools/call' || caller.token?.oauth == null || typeof name !== 'string') return undefined;
    if ((await this.#offer.lacks?.(caller, name)) !== true) return undefined;
    const outcome = await this.#offer.call(caller, name, args, trim, () => ({ signal: AbortSignal.abort() }));
    const told = outcome.kind === 'refused' && outcome.refusal['requiredAction'] !== undefined;
    return told ? insufficientScope(this.#world.baseUrl(), id, caller, outcome.refusal) : undefined;
  }

  /** The revisions with a handshake, and whoever just posts JSON. The frequent methods need no library. */
  async #legacy(exchange: Exchange): Promise<McpAnswer | McpStream | Response> {
    const { message, id, request } = exchange;
    const version_ = request.header('mcp-protocol-version');
    if (version_ !== undefined && !LEGACY.includes(version_)) {
      return rpcError(id, -32600, `Unsupported protocol version: known are ${LEGACY.join(', ')}`, { status: 400 });
    }
    if (!('id' in message)) return empty(202);
    this.#mint(exchange);
    if (message.method === 'tools/list') return this.#list(exchange);
    const calls = message.method === 'tools/call';
    const byLibrary = calls && this.#offer.libraryTool?.(String(message.params['name'])) !== undefined;
    const wantsStream = acceptsStream(request);
    if (calls && !byLibrary) return wantsStream ? this.#tell(exchange) : this.#call(exchange);
    if (message.method === 'initialize') return this.#initialize(exchange);
    if (!calls && this.#offer.extend === undefined) return rpcError(id, -32601, 'Method not found');
    const lacking = lackingParam(message);
    if (lacking !== undefined) return rpcError(id, -32602, `${message.method} needs params.${lacking}`);
    const library = await this.#loaded();
    const response = await library.legacy(
      webRequest(request),
      message,
      this.#served(exchange),
      byLibrary && wantsStream,
    );
    for (const [name, value] of Object.entries(exchange.headers)) response.headers.set(name, value);
    return response;
  }

  async #modern(exchange: Exchange): Promise<McpAnswer | Response> {
    const { message, id } = exchange;
    const lacking = lackingParam(message);
    if (lacking !== undefined) return rpcError(id, -32602, `${message.method} needs params.${lacking}`);
    const library = await this.#loaded();
    return library.modern(webRequest(exchange.request), message, this.#served(exchange));
  }

  #served(exchange: Exchange): Served {
    const { caller, trim, request, message } = exchange;
    const calls = message.method === 'tools/call';
    return { caller, trim, calls, gone: request.gone, called: (outcome) => this.#bind(exchange, outcome) };
  }

  #loaded(): Promise<Library> {
    this.#library ??= import('./library.ts').then(({ Library: Made }) => new Made(this.#offer));
    return this.#library;
  }

  #initialize({ message, id, headers }: Exchange): McpAnswer {
    const asked = message.params['protocolVersion'];
    if (typeof asked !== 'string') return rpcError(id, -32602, 'initialize needs params.protocolVersion');
    const { capabilities, instructions } = this.#offer;
    const result = {
      protocolVersion: LEGACY.includes(asked) ? asked : LEGACY[0],
      capabilities,
      serverInfo: { name: 'mailstead', title: 'Mailstead', version: version() },
      instructions,
    };
    return withHeaders(rpcResult(id, JSON.stringify(result)), headers);
  }

  async #list({ id, caller, trim, headers }: Exchange): Promise<McpAnswer> {
    const tools = await this.#offer.tools(caller, trim);
    const { listMeta } = this.#offer;
    const list = { tools, ...(listMeta !== undefined && { _meta: listMeta }) };
    return withHeaders(rpcResult(id, JSON.stringify(list)), headers);
  }

  /** A stream for who asked to be told how far a long tool is; everybody else gets one answer. */
  async #tell(exchange: Exchange): Promise<McpAnswer | McpStream> {
    const { params } = exchange.message;
    const progressToken = progressTokenOf(params);
    const streams = progressToken !== undefined && (await this.#offer.streams?.(String(params['name']))) === true;
    if (!streams) return this.#call(exchange);
    return rpcStream(exchange.headers, (send) =>
      this.#call(exchange, (progress, total) =>
        send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, total } }),
      ),
    );
  }

  async #call(exchange: Exchange, progress?: Audience['progress']): Promise<McpAnswer> {
    const { message, id, caller, trim, headers, request } = exchange;
    const { name, arguments: args } = message.params;
    if (typeof name !== 'string') return rpcError(id, -32602, 'tools/call needs params.name');
    if (args !== undefined && (typeof args !== 'object' || args === null || Array.isArray(args))) {
      return rpcError(id, -32602, 'params.arguments must be an object');
    }
    const outcome = await this.#offer.call(caller, name, args, trim, () => ({ signal: request.gone(), progress }));
    if (outcome.kind === 'unknown') return rpcError(id, -32602, `Unknown tool: ${name.slice(0, 100)}`);
    await this.#bind(exchange, outcome);
    return withHeaders(rpcResult(id, toolResult(outcome)), { ...headers, ...retryAfter(outcome) });
  }

  /** A session id for who may have one and has none: at the handshake, and at the first call with a good token. */
  #mint(exchange: Exchange): void {
    const { message, caller, session, headers } = exchange;
    const known = ['initialize', 'tools/list', 'tools/call'].includes(message.method);
    const anonymous = caller.kind === 'anonymous' && message.method !== 'initialize';
    // An access token is short-lived by itself: a session would outlive it.
    if (!known || anonymous || session !== undefined || caller.token?.oauth != null) return;
    headers[SESSION_HEADER] = this.#ids.mint(caller.token?.id ?? 0, this.#world.clock()).text;
  }

  /** An anonymous session that made an organization speaks for its token from now on. */
  async #bind({ caller, session, headers }: Exchange, outcome: Called): Promise<void> {
    if (outcome.kind !== 'done' || outcome.token === undefined || caller.kind !== 'anonymous') return;
    const token = await this.#world.store.read(findToken, { hash: secretHash(outcome.token) });
    if (token === undefined) return;
    if (session === undefined) headers[SESSION_HEADER] = this.#ids.mint(token.id, this.#world.clock()).text;
    else {
      const { nonce, expiresAt } = session;
      await this.#world.store.write(bindSession, { nonce, expiresAt, token: token.id });
    }
  }
}

function withHeaders(answer: McpAnswer, headers: Record<string, string>): McpAnswer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}
