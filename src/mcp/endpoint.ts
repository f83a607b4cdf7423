import type { AppContext } from '../core/app-context.ts';
import { Admission } from './admission.ts';
import { empty, type McpResponse, type McpStream, rpcError, rpcIdOf, rpcResult } from './rpc-response.ts';
import { DirectMethods, LEGACY } from './direct-methods.ts';
import type { McpExchange } from './exchange.ts';
import type { Library, McpCall } from './library.ts';
import type { Offer } from './offer.ts';
import { type Principal, principalOf } from './principal.ts';
import { acceptsStream, isModern, lackingParam, type McpRequest, readRpcMessage, webRequest } from './request.ts';
import { SESSION_HEADER, Sessions } from './sessions.ts';
import { readToolSelection } from './tool-selection.ts';

/** The MCP endpoint: revisions with and without a handshake, and plain JSON POSTs. MCP 2026-07-28 and 2025-11-25. */
export class McpEndpoint {
  readonly #context: AppContext;
  readonly #offer: Offer;
  readonly #admission: Admission;
  readonly #sessions: Sessions;
  readonly #direct: DirectMethods;
  #library: Promise<Library> | undefined;

  constructor(context: AppContext, offer: Offer) {
    this.#context = context;
    this.#offer = offer;
    this.#admission = new Admission(context, offer);
    this.#sessions = new Sessions(context);
    this.#direct = new DirectMethods(offer, this.#sessions);
  }

  async post(request: McpRequest): Promise<McpResponse | McpStream | Response> {
    const read = readRpcMessage(request.body);
    if (read.kind === 'bad') return read.answer;
    const { message } = read;
    const id = rpcIdOf(message);
    const modern = isModern(message, request);
    // Before authentication: ping checks availability.
    if (message.method === 'ping' && !modern) return 'id' in message ? rpcResult(id, '{}') : empty(202);
    const principal = await principalOf(this.#context, this.#sessions.ids, {
      authorization: request.authorization,
      // A handshake starts a new session.
      sessionText: modern || message.method === 'initialize' ? undefined : request.header(SESSION_HEADER),
      ip: request.ip,
    });
    const refused = await this.#admission.refusal(principal, message, id, request);
    if (refused !== undefined) return refused;
    const { caller, session } = principal as Principal & { kind: 'caller' };
    if (caller.token !== undefined) request.loggedIn?.(caller.actor);
    const trim = readToolSelection(request.url.searchParams, request.header);
    const exchange: McpExchange = { request, message, id, caller, session, trim, headers: {} };
    const lacking = await this.#admission.lacking(exchange);
    if (lacking !== undefined) return lacking;
    return modern ? this.#modern(exchange) : this.#legacy(exchange);
  }

  /** Ends a session of this server. */
  delete(sessionText: string | undefined): Promise<McpResponse> {
    return this.#sessions.end(sessionText);
  }

  async close(): Promise<void> {
    await (await this.#library)?.close();
  }

  /** Revisions with a handshake, and plain JSON POSTs. Frequent methods need no library. */
  async #legacy(exchange: McpExchange): Promise<McpResponse | McpStream | Response> {
    const { message, id, request } = exchange;
    const version_ = request.header('mcp-protocol-version');
    if (version_ !== undefined && !LEGACY.includes(version_)) {
      return rpcError(id, -32600, `Unsupported protocol version. Supported: ${LEGACY.join(', ')}`, { status: 400 });
    }
    if (!('id' in message)) return empty(202);
    this.#sessions.mint(exchange);
    if (message.method === 'tools/list') return this.#direct.list(exchange);
    const calls = message.method === 'tools/call';
    const byLibrary = calls && this.#offer.libraryTool?.(String(message.params['name'])) !== undefined;
    const wantsStream = acceptsStream(request);
    if (calls && !byLibrary) return wantsStream ? this.#direct.callWithProgress(exchange) : this.#direct.call(exchange);
    if (message.method === 'initialize') return this.#direct.initialize(exchange);
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

  async #modern(exchange: McpExchange): Promise<McpResponse | Response> {
    const { message, id } = exchange;
    const lacking = lackingParam(message);
    if (lacking !== undefined) return rpcError(id, -32602, `${message.method} needs params.${lacking}`);
    const library = await this.#loaded();
    return library.modern(webRequest(exchange.request), message, this.#served(exchange));
  }

  #served(exchange: McpExchange): McpCall {
    const { caller, trim, request, message } = exchange;
    const calls = message.method === 'tools/call';
    return {
      caller,
      trim,
      calls,
      closed: request.closed,
      onOutcome: (outcome) => this.#sessions.bind(exchange, outcome),
    };
  }

  #loaded(): Promise<Library> {
    this.#library ??= import('./library.ts').then(({ Library: Made }) => new Made(this.#offer));
    return this.#library;
  }
}
