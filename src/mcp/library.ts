import {
  createMcpHandler,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from '../operations/caller.ts';
import type { Audience } from '../operations/operation.ts';
import { version } from '../version.ts';
import type { Called, Offer } from './offer.ts';
import type { Trim } from './trim.ts';

export interface Served {
  caller: Caller;
  trim: Trim;
  gone: () => AbortSignal;
  /** Told of each tool that was called, before its answer leaves. */
  called(outcome: Called): Promise<void>;
}

/** The MCP library, loaded at first use: the modern era, and what of the older one is not answered directly. */
export class Library {
  readonly #offer: Offer;
  readonly #modern: ReturnType<typeof createMcpHandler>;

  constructor(offer: Offer) {
    this.#offer = offer;
    this.#modern = createMcpHandler(({ authInfo }) => this.#server(authInfo?.extra?.['served'] as Served | undefined), {
      legacy: 'reject',
      ...(offer.changes !== undefined && { bus: offer.changes }),
    });
  }

  async modern(request: Request, body: unknown, served: Served): Promise<Response> {
    // It checks no credentials itself: this only travels with the request. A WeakMap would keep it much longer.
    const authInfo = { token: '', clientId: served.caller.actor, scopes: [], extra: { served } };
    return this.#modern.fetch(request, { parsedBody: body, authInfo });
  }

  /** One request of the 2025 revisions, without a session of the library's own: those are ours. */
  async legacy(request: Request, body: unknown, served: Served, streams: boolean): Promise<Response> {
    const server = this.#server(served);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams });
    await server.connect(transport);
    return transport.handleRequest(request, { parsedBody: body });
  }

  async close(): Promise<void> {
    await this.#modern.close();
  }

  #server(served: Served | undefined): Server {
    if (served === undefined) throw new Error('an MCP request came without its caller');
    const { capabilities, instructions } = this.#offer;
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
      const outcome = await this.#offer.call(served.caller, params.name, params.arguments, served.trim, () => ({
        signal: served.gone(),
        progress: progressOf(context),
      }));
      await served.called(outcome);
      return resultOf(outcome, params.name) as never;
    });
    this.#offer.extend?.(server);
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
