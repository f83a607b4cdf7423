import { version } from '../core/version.ts';
import { type McpResponse, type McpStream, rpcError, rpcResult, rpcStream } from './rpc-response.ts';
import { type McpExchange, withHeaders } from './exchange.ts';
import type { Offer } from './offer.ts';
import { progressTokenOf } from './request.ts';
import type { Sessions } from './sessions.ts';
import { retryAfter, toolResult } from './tool-outcome.ts';
import type { StreamClient } from '../core/stream-client.ts';

/** Revisions with a handshake, newest first. The current one names itself in every request. */
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Frequent methods of the older revisions, answered without the MCP library. */
export class DirectMethods {
  readonly #offer: Offer;
  readonly #sessions: Sessions;

  constructor(offer: Offer, sessions: Sessions) {
    this.#offer = offer;
    this.#sessions = sessions;
  }

  initialize({ message, id, headers }: McpExchange): McpResponse {
    const requested = message.params['protocolVersion'];
    if (typeof requested !== 'string') return rpcError(id, -32602, 'initialize needs params.protocolVersion');
    const { capabilities, instructions } = this.#offer;
    const result = {
      protocolVersion: LEGACY.includes(requested) ? requested : LEGACY[0],
      capabilities,
      serverInfo: { name: 'mailstead', title: 'Mailstead', version: version() },
      instructions,
    };
    return withHeaders(rpcResult(id, JSON.stringify(result)), headers);
  }

  async list({ id, caller, trim, headers }: McpExchange): Promise<McpResponse> {
    const tools = await this.#offer.tools(caller, trim);
    const { listMeta } = this.#offer;
    const list = { tools, ...(listMeta !== undefined && { _meta: listMeta }) };
    return withHeaders(rpcResult(id, JSON.stringify(list)), headers);
  }

  /** Streams progress if the client requested it and the tool is long-running; else one response. */
  async callWithProgress(exchange: McpExchange): Promise<McpResponse | McpStream> {
    const { params } = exchange.message;
    const progressToken = progressTokenOf(params);
    const streams = progressToken !== undefined && (await this.#offer.streams?.(String(params['name']))) === true;
    if (!streams) return this.call(exchange);
    return rpcStream(exchange.headers, (send) =>
      this.call(exchange, (progress, total) =>
        send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, total } }),
      ),
    );
  }

  async call(exchange: McpExchange, progress?: StreamClient['progress']): Promise<McpResponse> {
    const { message, id, caller, trim, headers, request } = exchange;
    const { name, arguments: args } = message.params;
    if (typeof name !== 'string') return rpcError(id, -32602, 'tools/call needs params.name');
    if (args !== undefined && (typeof args !== 'object' || args === null || Array.isArray(args))) {
      return rpcError(id, -32602, 'params.arguments must be an object');
    }
    const outcome = await this.#offer.call(caller, name, args, trim, () => ({ signal: request.closed(), progress }));
    if (outcome.kind === 'unknown') return rpcError(id, -32602, `Unknown tool: ${name.slice(0, 100)}`);
    await this.#sessions.bind(exchange, outcome);
    return withHeaders(rpcResult(id, toolResult(outcome)), { ...headers, ...retryAfter(outcome) });
  }
}
