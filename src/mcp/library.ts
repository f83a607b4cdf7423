import {
  createMcpHandler,
  InMemoryServerEventBus,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from '../core/caller.ts';
import { version } from '../core/version.ts';
import { rpcIdOf } from './rpc-response.ts';
import type { Offer } from './offer.ts';
import type { RpcMessage } from './request.ts';
import type { ToolSelection } from './tool-selection.ts';
import type { StreamClient } from '../core/stream-client.ts';
import type { ToolOutcome } from './tool-outcome.ts';

export interface McpCall {
  caller: Caller;
  trim: ToolSelection;
  closed: () => AbortSignal;
  /** True for tools/call: other handlers are not registered. */
  calls: boolean;
  /** Called with each tool outcome, before the response is sent. */
  onOutcome(outcome: ToolOutcome): Promise<void>;
}

/** The MCP library, loaded at first use: the current revision, and methods of older ones without a direct answer. */
export class Library {
  readonly #offer: Offer;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #streams = new Set<ReturnType<typeof createMcpHandler>>();

  constructor(offer: Offer) {
    this.#offer = offer;
    this.#modern = createMcpHandler(
      ({ authInfo }) => this.#server(authInfo?.extra?.['served'] as McpCall | undefined, 'modern'),
      {
        legacy: 'reject',
        ...(offer.changes !== undefined && { bus: offer.changes }),
      },
    );
  }

  async modern(request: Request, body: RpcMessage, served: McpCall): Promise<Response> {
    if (body.method === 'subscriptions/listen' && this.#offer.changes === undefined) {
      return this.#listen(request, body, served);
    }
    // authInfo only carries the call; credentials are already checked. A WeakMap would retain it much longer.
    const authInfo = { token: '', clientId: served.caller.actor, scopes: [], extra: { served } };
    return this.#modern.fetch(request, { parsedBody: body, authInfo });
  }

  /** One request of the 2025 revisions. Sessions are ours, not the library's. */
  async legacy(request: Request, body: unknown, served: McpCall, streams: boolean): Promise<Response> {
    const server = this.#server(served, 'legacy');
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams });
    await server.connect(transport);
    return transport.handleRequest(request, { parsedBody: body });
  }

  async close(): Promise<void> {
    await Promise.all([this.#modern, ...this.#streams].map((one) => one.close()));
  }

  /** Opens a subscription stream with its own handler, so that its notifications reach this caller only. */
  async #listen(request: Request, message: RpcMessage, served: McpCall): Promise<Response> {
    const { notifications } = message.params;
    const requested = (notifications as { resourceSubscriptions?: unknown } | undefined)?.resourceSubscriptions;
    const uris = Array.isArray(requested) ? requested.filter((one) => typeof one === 'string') : [];
    const watch = await this.#offer.watch?.(served.caller, uris, served.closed());
    if (watch === undefined) {
      const error = {
        code: 429,
        message: 'rate_limited: too many subscriptions',
        data: { error: 'rate_limited', retryAfterSeconds: 5 },
      };
      return Response.json({ jsonrpc: '2.0', id: rpcIdOf(message), error });
    }
    const bus = new InMemoryServerEventBus();
    const handler = createMcpHandler(() => this.#server(served, 'modern'), { legacy: 'reject', bus });
    this.#streams.add(handler);
    const seen =
      uris.length === 0 ? notifications : { ...(notifications as object), resourceSubscriptions: watch.uris };
    const params = { ...message.params, notifications: seen };
    // Started before the stream, so that it ends even if the stream fails.
    const finished = watch.run((uri) => bus.publish({ kind: 'resource_updated', uri }));
    const response = await handler.fetch(request, { parsedBody: { ...message, params } });
    void this.#closeAfter(finished, handler);
    return response;
  }

  async #closeAfter(finished: Promise<void>, handler: ReturnType<typeof createMcpHandler>): Promise<void> {
    await Promise.allSettled([finished]);
    this.#streams.delete(handler);
    await handler.close();
  }

  #server(served: McpCall | undefined, era: 'modern' | 'legacy'): Server {
    if (served === undefined) throw new Error('MCP request without a caller');
    const { instructions, modern = {} } = this.#offer;
    const capabilities = era === 'modern' ? { ...this.#offer.capabilities, ...modern } : this.#offer.capabilities;
    const server = new Server({ name: 'mailstead', version: version() }, { capabilities, instructions });
    server.setRequestHandler('tools/list', async () => ({
      tools: (await this.#offer.tools(served.caller, served.trim)) as never,
      ttlMs: 300_000,
      cacheScope: 'private' as const,
      ...(this.#offer.listMeta !== undefined && { _meta: this.#offer.listMeta }),
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const own = this.#offer.libraryTool?.(params.name);
      if (own !== undefined) return (await own(served.caller, params.arguments, context)) as never;
      const again = await this.#offer.resumed?.(served.caller, context);
      if (again !== undefined) return resultOf(again, params.name) as never;
      const outcome = await this.#offer.call(served.caller, params.name, params.arguments, served.trim, () => ({
        signal: served.closed(),
        progress: progressOf(context),
      }));
      await served.onOutcome(outcome);
      const question = await this.#offer.question?.(served.caller, outcome, context);
      return (question ?? resultOf(outcome, params.name)) as never;
    });
    if (!served.calls) this.#offer.extend?.(server, served.caller);
    return server;
  }
}

/** Sends progress notifications; undefined if the client did not request them. */
function progressOf({ mcpReq }: ServerContext): StreamClient['progress'] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, total) => {
    // Ignores errors: disconnects are handled by the close signal.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, total } })
      .catch(() => undefined);
  };
}

/** A tool outcome as a CallToolResult: JSON as text and as structured content. */
function resultOf(outcome: ToolOutcome, name: string): object {
  if (outcome.kind === 'unknown') throw Object.assign(new Error(`Unknown tool: ${name}`), { code: -32602 });
  const json = outcome.kind === 'done' ? outcome.json : JSON.stringify(outcome.refusal);
  return {
    content: [{ type: 'text', text: json }, ...(outcome.kind === 'done' ? (outcome.blocks ?? []) : [])],
    structuredContent: JSON.parse(json) as object,
    ...(outcome.kind === 'refused' && { isError: true }),
  };
}
