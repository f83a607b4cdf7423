import {
  createMcpHandler,
  InMemoryServerEventBus,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from '../operations/caller.ts';
import type { Audience } from '../operations/operation.ts';
import { version } from '../version.ts';
import { rpcIdOf } from './answer.ts';
import type { Called, Offer } from './offer.ts';
import type { Message } from './request.ts';
import type { Trim } from './trim.ts';

export interface Served {
  caller: Caller;
  trim: Trim;
  gone: () => AbortSignal;
  /** It calls a tool: nothing else has to be served. */
  calls: boolean;
  /** Told of each tool that was called, before its answer leaves. */
  called(outcome: Called): Promise<void>;
}

/** The MCP library, loaded at first use: the modern era, and what of the older one is not answered directly. */
export class Library {
  readonly #offer: Offer;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #streams = new Set<ReturnType<typeof createMcpHandler>>();

  constructor(offer: Offer) {
    this.#offer = offer;
    this.#modern = createMcpHandler(
      ({ authInfo }) => this.#server(authInfo?.extra?.['served'] as Served | undefined, 'modern'),
      {
        legacy: 'reject',
        ...(offer.changes !== undefined && { bus: offer.changes }),
      },
    );
  }

  async modern(request: Request, body: Message, served: Served): Promise<Response> {
    if (body.method === 'subscriptions/listen' && this.#offer.changes === undefined) {
      return this.#listen(request, body, served);
    }
    // It checks no credentials itself: this only travels with the request. A WeakMap would keep it much longer.
    const authInfo = { token: '', clientId: served.caller.actor, scopes: [], extra: { served } };
    return this.#modern.fetch(request, { parsedBody: body, authInfo });
  }

  /** One request of the 2025 revisions, without a session of the library's own: those are ours. */
  async legacy(request: Request, body: unknown, served: Served, streams: boolean): Promise<Response> {
    const server = this.#server(served, 'legacy');
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams });
    await server.connect(transport);
    return transport.handleRequest(request, { parsedBody: body });
  }

  async close(): Promise<void> {
    await Promise.all([this.#modern, ...this.#streams].map((one) => one.close()));
  }

  /** A stream with a handler of its own: what it is told is nobody else's. */
  async #listen(request: Request, message: Message, served: Served): Promise<Response> {
    const { notifications } = message.params;
    const asked = (notifications as { resourceSubscriptions?: unknown } | undefined)?.resourceSubscriptions;
    const uris = Array.isArray(asked) ? asked.filter((one) => typeof one === 'string') : [];
    const watch = await this.#offer.watch?.(served.caller, uris, served.gone());
    if (watch === undefined) {
      const error = {
        code: 429,
        message: 'rate_limited: too much is watched already',
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
    // Begun before the stream is, so that it ends whatever becomes of that.
    const told = watch.run((uri) => bus.publish({ kind: 'resource_updated', uri }));
    const response = await handler.fetch(request, { parsedBody: { ...message, params } });
    void this.#closeAfter(told, handler);
    return response;
  }

  async #closeAfter(told: Promise<void>, handler: ReturnType<typeof createMcpHandler>): Promise<void> {
    await Promise.allSettled([told]);
    this.#streams.delete(handler);
    await handler.close();
  }

  #server(served: Served | undefined, era: 'modern' | 'legacy'): Server {
    if (served === undefined) throw new Error('an MCP request came without its caller');
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
        signal: served.gone(),
        progress: progressOf(context),
      }));
      await served.called(outcome);
      const question = await this.#offer.question?.(served.caller, outcome, context);
      return (question ?? resultOf(outcome, params.name)) as never;
    });
    if (!served.calls) this.#offer.extend?.(server, served.caller);
    return server;
  }
}

/** Tells a client how far its request is; undefined: it did not ask to be told. */
function progressOf({ mcpReq }: ServerContext): Audience['progress'] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, total) => {
    // A client that is gone is told nothing; that it is gone is heard of elsewhere.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, total } })
      .catch(() => undefined);
  };
}

/** A tool's outcome as the protocol's result: the JSON as text, and the same structured. */
function resultOf(outcome: Called, name: string): object {
  if (outcome.kind === 'unknown') throw Object.assign(new Error(`Unknown tool: ${name}`), { code: -32602 });
  const json = outcome.kind === 'done' ? outcome.json : JSON.stringify(outcome.refusal);
  return {
    content: [{ type: 'text', text: json }, ...(outcome.kind === 'done' ? (outcome.blocks ?? []) : [])],
    structuredContent: JSON.parse(json) as object,
    ...(outcome.kind === 'refused' && { isError: true }),
  };
}
