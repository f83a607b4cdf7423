import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { arrows, cycleIn, imports, reachable, root, sources } from './import-graph.ts';

const area = (file: string): string => relative('mail', file).split('/')[0] ?? '';

/** The other folders of the engine that each may import, besides `log.ts`; sorted, as in mail/README.md. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  // Protocol servers import lower layers, and never each other.
  receiver: [
    'agents',
    'auth',
    'delivery',
    'filter',
    'forwarder',
    'guard',
    'limits',
    'login',
    'message',
    'policy',
    'smtp',
    'store',
  ],
  imap: ['agents', 'guard', 'limits', 'login', 'message', 'store'],
  jmap: ['agents', 'delivery', 'limits', 'message', 'store'],
  relay: ['auth', 'delivery', 'dns', 'limits', 'message', 'smtp', 'store'],
  jobs: ['agents', 'delivery', 'filter', 'message', 'policy', 'store'],
  // Names of folders and flags are those of IMAP.
  transfer: ['imap', 'limits', 'message', 'store'],
  delivery: ['agents', 'auth', 'forwarder', 'limits', 'message', 'policy', 'store'],
  filter: ['auth', 'dns', 'limits', 'message', 'policy', 'store'],
  // Above the store, which calls it by hooks; below everything that delivers and serves.
  agents: ['limits', 'message', 'store'],
  // Copies of the store, made beside it.
  backup: ['store'],
  login: ['guard', 'limits', 'message'],
  guard: ['limits', 'store'],
  store: ['limits', 'message', 'policy'],
  // Decisions know their input, and nothing of the store.
  policy: ['auth', 'dns', 'message'],
  // Languages know neither the store, nor a protocol server, nor decisions.
  reports: ['auth', 'dns', 'limits', 'message'],
  forwarder: ['auth', 'message'],
  auth: ['dns', 'limits', 'message'],
  smtp: ['message'],
  dns: ['limits'],
  message: [],
  // Limits and caches know nothing of mail: every module may use them.
  limits: [],
};

describe('the direction of imports', () => {
  test('the graph was read', () => {
    expect(sources.length).toBeGreaterThan(150);
    expect(arrows(imports)).toContain('mail/delivery/deliver.ts -> mail/store/blob/blob.ts');
  });

  test('the engine knows nothing of the appliance', () => {
    const outward = imports.filter(
      ({ from, to }) => from.startsWith('mail/') && /^(?:src|config|test|bench)\//.test(to),
    );
    expect(arrows(outward)).toEqual([]);
  });

  test('the engine reads no environment and uses no library of the appliance', () => {
    const libraries = imports.filter(
      ({ from, to }) => from.startsWith('mail/') && /^(?:fastify|pino|prom-client|zod)/.test(to),
    );
    expect(arrows(libraries)).toEqual([]);
    const readers = sources.filter(
      (file) => file.startsWith('mail/') && readFileSync(join(root, file), 'utf8').includes('process.env'),
    );
    expect(readers).toEqual([]);
  });

  test.each(Object.entries(LAYERS))('mail/%s imports only %j', (name, allowed) => {
    const known: readonly string[] = [name, 'log.ts', ...allowed];
    const wrong = imports.filter(
      ({ from, to }) => from.startsWith(`mail/${name}/`) && to.startsWith('mail/') && !known.includes(area(to)),
    );
    expect(arrows(wrong)).toEqual([]);
  });

  test('every layer is used: a folder imports all that it may', () => {
    const unused = Object.entries(LAYERS).flatMap(([name, allowed]) =>
      allowed
        .filter((other) => !imports.some(({ from, to }) => from.startsWith(`mail/${name}/`) && area(to) === other))
        .map((other) => `${name} -> ${other}`),
    );
    expect(unused).toEqual([]);
  });

  test('the engine has no other folder, and mail/README.md has the same table', () => {
    const folders = readdirSync(join(root, 'mail'), { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual(Object.keys(LAYERS).toSorted());
    const rows = readFileSync(join(root, 'mail/README.md'), 'utf8').matchAll(/^\|[^|]+\| `([a-z]+)` \| ([^|]+) \|$/gm);
    const table = [...rows].map(([, name = '', listed = '']): [string, string[]] => {
      const names = listed.replace(/;.*| \([^)]*\)/g, '');
      return [name, names === 'nothing' ? [] : names.split(', ')];
    });
    expect(Object.fromEntries(table)).toEqual(LAYERS);
    expect(table).toHaveLength(folders.length);
  });

  test('what reads, delivers and is read knows of agents their hooks, and IMAP one of them', () => {
    const used = imports.filter(({ from, to }) => from.startsWith('mail/imap/') && to.startsWith('mail/agents/'));
    const faces = ['mail/agents/hooks.ts', 'mail/agents/quarantine/redact.ts'];
    expect(arrows(used.filter(({ to }) => !faces.includes(to)))).toEqual([]);
    const hooks = new Set(
      sources
        .filter((file) => file.startsWith('mail/imap/'))
        .flatMap(
          (file) =>
            readFileSync(join(root, file), 'utf8').match(/\bon(?:Read|Submit|Hold|Deliver|RuleChange)\b/g) ?? [],
        ),
    );
    expect([...hooks]).toEqual(['onRead']);
  });

  test('no file imports itself by way of others at run time', () => {
    expect(cycleIn(imports.filter((one) => !one.typeOnly))).toBeUndefined();
  });

  test('no file imports itself by way of others, types included', () => {
    expect(cycleIn(imports)).toBeUndefined();
  });

  test('the store threads load nothing heavy', () => {
    const loaded = reachable('src/start/store-thread.ts');
    expect(loaded).toContain('mail/store/engine/thread.ts');
    const outside = loaded.filter(
      (file) =>
        !/^(?:mail|node:)/.test(file) &&
        // Names of HTML entities, for previews: 0.2 MB a thread.
        file !== 'entities/decode' &&
        // Areas contribute only commands, queries and pure functions: zod alone is 19 MB a thread.
        !/^src\/(?:start\/(?:store-(?:thread|parts)|migrations)|core\/(?:ids|audit-row|migrations)|[a-z-]+\/(?:[a-z-]*commands(?:\.index)?|[a-z-]*queries|template-deletion|day|slug|payload|attachment-link))\.ts$/.test(
          file,
        ),
    );
    expect(outside).toEqual([]);
  });
});
