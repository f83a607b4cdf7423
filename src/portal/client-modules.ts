import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { stripTypes } from '../http/strip-types.ts';

/** Scripts of the pages. Optional: every page works without them. */
interface ModuleSet {
  /** Path of the first module; the hash in it allows caching without expiry. */
  readonly main: string;
  readonly files: ReadonlyMap<string, string>;
}

const CLIENT = new URL('./client/', import.meta.url);

let loaded: ModuleSet | undefined;

function clientModules(): ModuleSet {
  loaded ??= loadModules();
  return loaded;
}

function loadModules(): ModuleSet {
  const names = readdirSync(CLIENT).filter((name) => name.endsWith('.ts'));
  const texts = names
    .toSorted()
    .map((name) => [name, stripTypes(readFileSync(new URL(name, CLIENT), 'utf8'))] as const);
  const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
  const base = `/portal/client-${hash}/`;
  return { main: `${base}main.ts`, files: new Map(texts.map(([name, text]) => [`${base}${name}`, text])) };
}

/** Path of the script that pages of organizations load. */
export function mainModule(): string {
  return clientModules().main;
}

/** Serves the scripts under the paths with the current hash. */
export function clientModuleRoutes(app: FastifyInstance): void {
  app.get('/portal/:version/:name', async (request, reply) => {
    const text = clientModules().files.get(request.url);
    if (text === undefined) return reply.code(404).type('text/plain').send('No such file. Reload the page.\n');
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('x-content-type-options', 'nosniff')
      .type('text/javascript; charset=utf-8')
      .send(text);
  });
}
