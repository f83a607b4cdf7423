import type { World } from '../operations/world.ts';
import { Admission } from './admission.ts';
import { empty, type McpAnswer, type McpStream, rpcError, rpcIdOf, rpcResult } from './answer.ts';
import { DirectAnswers, LEGACY } from './direct-answers.ts';
import type { Exchange } from './exchange.ts';
import type { Library, Served } from './library.ts';
import type { Offer } from './offer.ts';
import { type Principal, principalOf } from './principal.ts';
import { acceptsStream, isModern, lackingParam, type McpRequest, readMessage, webRequest } from './request.ts';
import { SESSION_HEADER, Sessions } from './sessions.ts';
import { readTrim } from './trim.ts';

/** The MCP door: both eras of the protocol, and a bare curl, on one endpoint. spec: 2026-07-28 and 2025-11-25. */
export class McpDoor {
  readonly #world: World;
  readonly #offer: Offer;
  readonly #admission: Admission;
  readonly #sessions: Sessions;
  readonly #direct: DirectAnswers;
  #library: Promise<Library> | undefined;

  constructor(world: World, offer: Offer) {
    this.#world = world;
    this.#offer = offer;
    this.#admission = new Admission(world, offer);
    this.#sessions = new Sessions(world);
    this.#direct = new DirectAnswers(offer, this.#sessions);
  }

  async post(request: McpRequest): Promise<McpAnswer | McpStream | Response> {
    const read = readMessage(request.body);
    if (read.kind === 'bad') return read.answer;
    const { message } = read;
    const id = rpcIdOf(message);
    const modern = isModern(message, request);
    // Before anything is known of who asks: it is how people find out whether the box is there.
    if (message.method === 'ping' && !modern) return 'id' in message ? rpcResult(id, '{}') : empty(202);
    const principal = await principalOf(this.#world, this.#sessions.ids, {
      authorization: request.authorization,
      // A handshake begins anew, whatever session the client still remembers.
      sessionText: modern || message.method === 'initialize' ? undefined : request.header(SESSION_HEADER),
      ip: request.ip,
    });
    const refused = await this.#admission.refusal(principal, message, id, request);
    if (refused !== undefined) return refused;
    const { caller, session } = principal as Principal & { kind: 'caller' };
    const trim = readTrim(request.url.searchParams, request.header);
    const exchange: Exchange = { request, message, id, caller, session, trim, headers: {} };
    const lacking = await this.#admission.lacking(exchange);
    if (lacking !== undefined) return lacking;
    return modern ? this.#modern(exchange) : this.#legacy(exchange);
  }

  /** Ends a session that this box gave out. */
  delete(sessionText: string | undefined): Promise<McpAnswer> {
    return this.#sessions.end(sessionText);
  }

  async close(): Promise<void> {
    await (await this.#library)?.close();
  }

  /** The revisions with a handshake, and whoever just posts JSON. The frequent methods need no library. */
  async #legacy(exchange: Exchange): Promise<McpAnswer | McpStream | Response> {
    const { message, id, request } = exchange;
    const version_ = request.header('mcp-protocol-version');
    if (version_ !== undefined && !LEGACY.includes(version_)) {
      return rpcError(id, -32600, `Unsupported protocol version: known are ${LEGACY.join(', ')}`, { status: 400 });
    }
    if (!('id' in message)) return empty(202);
    this.#sessions.mint(exchange);
    if (message.method === 'tools/list') return this.#direct.list(exchange);
    const calls = message.method === 'tools/call';
    const byLibrary = calls && this.#offer.libraryTool?.(String(message.params['name'])) !== undefined;
    const wantsStream = acceptsStream(request);
    if (calls && !byLibrary) return wantsStream ? this.#direct.tell(exchange) : this.#direct.call(exchange);
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
    return { caller, trim, calls, gone: request.gone, called: (outcome) => this.#sessions.bind(exchange, outcome) };
  }

  #loaded(): Promise<Library> {
    this.#library ??= import('./library.ts').then(({ Library: Made }) => new Made(this.#offer));
    return this.#library;
  }
}
