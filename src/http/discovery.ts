import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorizationServer } from '../oauth/metadata.ts';
import type { Operation } from '../operations/operation.ts';
import type { World } from '../operations/world.ts';
import { authText, clientConfiguration, llmsText, type Place, protectedResource } from './discovery-texts.ts';

const GUIDE = new URL('../../docs/agents.md', import.meta.url);

/** A version that was just installed is seen within minutes. */
const CACHE = 'public, max-age=300';

interface Page {
  path: string;
  type: string;
  text(world: World): Promise<string>;
  /** Also for programs that are pages of other sites. */
  forPages?: true;
}

/** Documents by which programs and agents find out what this box can do. They are the same for everybody. */
const PAGES: readonly Page[] = [
  {
    path: '/openapi.json',
    type: 'application/json; charset=utf-8',
    async text(world) {
      const { openApi } = await import('./openapi.ts');
      return JSON.stringify(openApi(await known(world), world.baseUrl()));
    },
  },
  {
    path: '/llms.txt',
    type: 'text/plain; charset=utf-8',
    text: async (world) => llmsText(await known(world), placeOf(world), await readFile(GUIDE, 'utf8')),
  },
  { path: '/auth.md', type: 'text/markdown; charset=utf-8', text: async (world) => authText(placeOf(world)) },
  {
    path: '/mcp.json',
    type: 'application/json; charset=utf-8',
    text: async (world) => JSON.stringify(clientConfiguration(world.baseUrl()), null, 2),
  },
  {
    path: '/.well-known/oauth-protected-resource/mcp',
    type: 'application/json; charset=utf-8',
    text: async (world) => JSON.stringify(protectedResource(world.baseUrl(), '/mcp')),
    forPages: true,
  },
  {
    path: '/.well-known/oauth-protected-resource',
    type: 'application/json; charset=utf-8',
    text: async (world) => JSON.stringify(protectedResource(world.baseUrl(), '')),
    forPages: true,
  },
  {
    path: '/.well-known/oauth-authorization-server',
    type: 'application/json; charset=utf-8',
    text: async (world) => JSON.stringify(authorizationServer(world.baseUrl(), world.settings.bootstrap === 'open')),
    forPages: true,
  },
];

export function discoveryRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    for (const page of PAGES) {
      app.get(page.path, kept(world, page));
      if (page.forPages === true) app.options(page.path, preflight);
    }
  };
}

/** Programs that are pages ask with a header of the protocol, and so ask first whether they may. */
function preflight(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'mcp-protocol-version' };
  return reply.code(204).headers(headers).send();
}

/** Made at the first request, as the address of the box is known by then and does not change any more. */
function kept(world: World, page: Page): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  let made: Promise<{ text: string; tag: string }> | undefined;
  return async (request, reply) => {
    made ??= page.text(world).then((text) => ({ text, tag: tagOf(text) }));
    const { text, tag } = await made;
    void reply.header('cache-control', CACHE).header('etag', tag);
    if (page.forPages === true) void reply.header('access-control-allow-origin', '*');
    if (request.headers['if-none-match']?.includes(tag) === true) return reply.code(304).send();
    return reply.type(page.type).send(text);
  };
}

function tagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Operations that strangers may know of: nothing of the box itself. */
async function known(world: World): Promise<readonly Operation[]> {
  return (await world.catalogue()).filter((one) => one.operatorOnly !== true && one.socketOnly !== true);
}

function placeOf({ baseUrl, settings }: World): Place {
  return { baseUrl: baseUrl(), tokenPrefix: settings.tokenPrefix, open: settings.bootstrap === 'open' };
}
