import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

interface Asset {
  path: string;
  type: string;
  bytes: Buffer;
}

function asset(name: string, type: string): Asset {
  const bytes = readFileSync(new URL(`./${name}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const [stem = '', ending = ''] = name.split('.');
  return { path: `/portal/${stem}-${hash}.${ending}`, type, bytes };
}

/** The one style sheet, under a name that changes with it: it is kept for ever and never stale. */
export const STYLE = asset('style.css', 'text/css; charset=utf-8');
/** Takes the token out of the address bar of a page that a link opened. Everything works without it. */
export const FORGET = asset('forget.js', 'text/javascript; charset=utf-8');

export function assetRoutes(app: FastifyInstance): void {
  for (const { path, type, bytes } of [STYLE, FORGET]) {
    app.get(path, async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(bytes),
    );
  }
}
