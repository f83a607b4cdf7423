import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const IMPORT =
  /^\s*(?:import|export)\s(?:(type)\s)?[^'"]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

interface Import {
  from: string;
  to: string;
  /** Gone when the program runs. */
  typeOnly: boolean;
}

const sources = ['mail', 'src', 'config'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${top}/${file}`),
);
const imports = sources.flatMap(importsOf);

function importsOf(from: string): Import[] {
  const text = readFileSync(join(root, from), 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => {
    const target = match[2] ?? match[3] ?? match[4] ?? '';
    const to = target.startsWith('.') ? normalize(join(dirname(from), target)) : target;
    return { from, to, typeOnly: match[1] === 'type' };
  });
}

const said = (found: readonly Import[]): string[] => found.map(({ from, to }) => `${from} -> ${to}`);
const area = (file: string): string => relative('mail', file).split('/')[0] ?? '';

describe('the direction of imports', () => {
  test('the graph was read', () => {
    expect(sources.length).toBeGreaterThan(150);
    expect(said(imports)).toContain('mail/delivery/deliver.ts -> mail/store/blob.ts');
  });

  test('the engine knows nothing of the appliance', () => {
    const outward = imports.filter(
      ({ from, to }) => from.startsWith('mail/') && /^(?:src|config|test|bench)\//.test(to),
    );
    expect(said(outward)).toEqual([]);
  });

  test('the engine reads no environment and uses no library of the appliance', () => {
    const libraries = imports.filter(
      ({ from, to }) => from.startsWith('mail/') && /^(?:fastify|pino|prom-client|zod)/.test(to),
    );
    expect(said(libraries)).toEqual([]);
    const readers = sources.filter(
      (file) => file.startsWith('mail/') && readFileSync(join(root, file), 'utf8').includes('process.env'),
    );
    expect(readers).toEqual([]);
  });

  test.each([
    // A pure language knows neither the store nor a door nor what is decided with it.
    ['message', ['message']],
    ['smtp', ['smtp', 'message']],
    ['auth', ['auth', 'message', 'dns']],
    ['dns', ['dns']],
    // Decisions know what they decide about, and nothing that is remembered.
    ['policy', ['policy', 'auth', 'dns', 'message', 'log.ts']],
    ['store', ['store', 'policy', 'message', 'log.ts']],
    ['judge', ['judge', 'policy', 'auth', 'dns', 'store', 'message', 'log.ts']],
    ['guard', ['guard', 'store', 'log.ts']],
    ['login', ['login', 'guard', 'message', 'log.ts']],
    ['forwarder', ['forwarder', 'auth', 'message']],
    ['delivery', ['delivery', 'forwarder', 'policy', 'auth', 'store', 'message', 'log.ts']],
    ['jobs', ['jobs', 'judge', 'delivery', 'policy', 'store', 'message', 'log.ts']],
    // Doors know what is below them, and no other door.
    [
      'receiver',
      [
        'receiver',
        'delivery',
        'judge',
        'policy',
        'forwarder',
        'guard',
        'login',
        'store',
        'smtp',
        'message',
        'auth',
        'log.ts',
      ],
    ],
    ['imap', ['imap', 'delivery', 'guard', 'login', 'store', 'message', 'log.ts']],
    ['jmap', ['jmap', 'delivery', 'login', 'store', 'message', 'log.ts']],
    ['relay', ['relay', 'delivery', 'store', 'smtp', 'message', 'auth', 'dns', 'log.ts']],
  ])('mail/%s imports only %j', (name, allowed) => {
    const wrong = imports.filter(
      ({ from, to }) => from.startsWith(`mail/${name}/`) && to.startsWith('mail/') && !allowed.includes(area(to)),
    );
    expect(said(wrong)).toEqual([]);
  });

  test('nothing imports in a circle', () => {
    const graph = new Map(sources.map((file) => [file, [] as string[]]));
    for (const { from, to, typeOnly } of imports) if (!typeOnly) graph.get(from)?.push(to);
    expect(circleIn(graph)).toBeUndefined();
  });

  test('the store threads load nothing heavy', () => {
    const loaded = reachable('src/store-thread.ts');
    expect(loaded).toContain('mail/store/engine/thread.ts');
    const outside = loaded.filter(
      (file) =>
        !/^(?:mail|node:)/.test(file) &&
        // Of an area only what writes, its queries and its pure words: zod alone is 19 MB a thread.
        !/^src\/(?:store-(?:thread|parts)|migrations|ids|[a-z-]+\/(?:[a-z-]*commands|[a-z-]*queries|row|day|slug|payload|attachment-link))\.ts$/.test(
          file,
        ),
    );
    expect(outside).toEqual([]);
  });
});

function reachable(start: string): string[] {
  const seen = new Set<string>();
  const open = [start];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    open.push(...imports.filter((one) => one.from === file && !one.typeOnly).map((one) => one.to));
  }
  return [...seen];
}

function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    done.add(file);
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...path, file]);
      if (circle !== undefined) return circle;
    }
    return undefined;
  };
  for (const file of graph.keys()) {
    const circle = visit(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
