import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorizationServer } from '../oauth/metadata.ts';
import type { Operation } from '../core/operation.ts';
import type { AppContext } from '../core/app-context.ts';
import { sendRefusal } from './json-replies.ts';
import { authText, clientConfiguration, llmsText, type DiscoveryInfo, protectedResource } from './discovery-texts.ts';

const GUIDE = new URL('../../docs/agents.md', import.meta.url);

/** Short, so that an upgrade is visible within 5 minutes. */
const CACHE = 'public, max-age=300';

interface Page {
  path: string;
  type: string;
  text(context: AppContext): Promise<string>;
  /** Allows cross-origin requests. */
  crossOrigin?: true;
}

/** Discovery documents, the same for every caller. */
const PAGES: readonly Page[] = [
  {
    path: '/openapi.json',
    type: 'application/json; charset=utf-8',
    async text(context) {
      const { openApi } = await import('./openapi.ts');
      return JSON.stringify(openApi(await publicOperations(context), context.baseUrl()));
    },
  },
  {
    path: '/llms.txt',
    type: 'text/plain; charset=utf-8',
    text: async (context) =>
      llmsText(await publicOperations(context), discoveryInfo(context), await readFile(GUIDE, 'utf8')),
  },
  { path: '/auth.md', type: 'text/markdown; charset=utf-8', text: async (context) => authText(discoveryInfo(context)) },
  {
    path: '/mcp.json',
    type: 'application/json; charset=utf-8',
    text: async (context) => JSON.stringify(clientConfiguration(context.baseUrl()), null, 2),
  },
  {
    path: '/.well-known/oauth-protected-resource/mcp',
    type: 'application/json; charset=utf-8',
    text: async (context) => JSON.stringify(protectedResource(context.baseUrl(), '/mcp')),
    crossOrigin: true,
  },
  {
    path: '/.well-known/oauth-protected-resource',
    type: 'application/json; charset=utf-8',
    text: async (context) => JSON.stringify(protectedResource(context.baseUrl(), '')),
    crossOrigin: true,
  },
  {
    path: '/.well-known/oauth-authorization-server',
    type: 'application/json; charset=utf-8',
    text: async (context) =>
      JSON.stringify(authorizationServer(context.baseUrl(), context.settings.bootstrap === 'open')),
    crossOrigin: true,
  },
];

export function discoveryRoutes(context: AppContext): (app: FastifyInstance) => void {
  return (app) => {
    for (const page of PAGES) {
      app.get(page.path, cachedPage(context, page));
      if (page.crossOrigin === true) app.options(page.path, preflight);
    }
  };
}

/** Answers CORS preflights: browser clients send the mcp-protocol-version header. */
function preflight(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'mcp-protocol-version' };
  return reply.code(204).headers(headers).send();
}

/** Renders the document at the first request, when the base URL is known, and caches it. */
function cachedPage(
  context: AppContext,
  page: Page,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  let rendered: Promise<RenderedPage> | undefined;
  return async (request, reply) => {
    if (page.crossOrigin === true) void reply.header('access-control-allow-origin', '*');
    const wait = context.limits.take(request.ip, undefined, context.clock());
    if (wait > 0) return refuseFlood(reply, wait);
    rendered ??= page.text(context).then(render);
    const { octets, packed, tag } = await rendered;
    void reply.header('cache-control', CACHE).header('etag', tag).header('vary', 'accept-encoding');
    if (request.headers['if-none-match']?.includes(tag) === true) return reply.code(304).send();
    void reply.type(page.type);
    const asGzip = /(?:^|,)\s*gzip\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i.test(
      request.headers['accept-encoding'] ?? '',
    );
    return asGzip ? reply.header('content-encoding', 'gzip').send(packed) : reply.send(octets);
  };
}

/** The octets of a page, which all responses share: some pages have 600 KB. */
interface RenderedPage {
  octets: Buffer;
  packed: Buffer;
  tag: string;
}

async function render(text: string): Promise<RenderedPage> {
  const octets = Buffer.from(text);
  const gzip = new Blob([octets]).stream().pipeThrough(new CompressionStream('gzip'));
  return { octets, packed: Buffer.from(await new Response(gzip).arrayBuffer()), tag: tagOf(text) };
}

function refuseFlood(reply: FastifyReply, retryAfterSeconds: number): FastifyReply {
  const message = `Too many requests. Retry in ${retryAfterSeconds} s.`;
  return sendRefusal(reply, { error: 'rate_limited', message, retryAfterSeconds });
}

function tagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Operations that anonymous callers may see: none of the operator's. */
async function publicOperations(context: AppContext): Promise<readonly Operation[]> {
  return (await context.catalogue()).filter((one) => one.operatorOnly !== true && one.socketOnly !== true);
}

function discoveryInfo({ baseUrl, settings }: AppContext): DiscoveryInfo {
  return { baseUrl: baseUrl(), tokenPrefix: settings.tokenPrefix, openRegistration: settings.bootstrap === 'open' };
}
