import type { Audience } from '../operations/operation.ts';
import { version } from '../version.ts';
import { type McpAnswer, type McpStream, rpcError, rpcResult, rpcStream } from './answer.ts';
import { type Exchange, withHeaders } from './exchange.ts';
import type { Offer } from './offer.ts';
import { progressTokenOf } from './request.ts';
import type { Sessions } from './sessions.ts';
import { retryAfter, toolResult } from './tool-result.ts';

/** Revisions that had a handshake, newest first; the current one says its name in every request. */
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** What of the older revisions is answered without the library: the frequent methods. */
export class DirectAnswers {
  readonly #offer: Offer;
  readonly #sessions: Sessions;

  constructor(offer: Offer, sessions: Sessions) {
    this.#offer = offer;
    this.#sessions = sessions;
  }

  initialize({ message, id, headers }: Exchange): McpAnswer {
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

  async list({ id, caller, trim, headers }: Exchange): Promise<McpAnswer> {
    const tools = await this.#offer.tools(caller, trim);
    const { listMeta } = this.#offer;
    const list = { tools, ...(listMeta !== undefined && { _meta: listMeta }) };
    return withHeaders(rpcResult(id, JSON.stringify(list)), headers);
  }

  /** A stream for who asked to be told how far a long tool is; everybody else gets one answer. */
  async tell(exchange: Exchange): Promise<McpAnswer | McpStream> {
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

  async call(exchange: Exchange, progress?: Audience['progress']): Promise<McpAnswer> {
    const { message, id, caller, trim, headers, request } = exchange;
    const { name, arguments: args } = message.params;
    if (typeof name !== 'string') return rpcError(id, -32602, 'tools/call needs params.name');
    if (args !== undefined && (typeof args !== 'object' || args === null || Array.isArray(args))) {
      return rpcError(id, -32602, 'params.arguments must be an object');
    }
    const outcome = await this.#offer.call(caller, name, args, trim, () => ({ signal: request.gone(), progress }));
    if (outcome.kind === 'unknown') return rpcError(id, -32602, `Unknown tool: ${name.slice(0, 100)}`);
    await this.#sessions.bind(exchange, outcome);
    return withHeaders(rpcResult(id, toolResult(outcome)), { ...headers, ...retryAfter(outcome) });
  }
}
