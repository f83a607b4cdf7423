import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { arrows, cycleIn, imports, reachable, root, sources } from './import-graph.ts';

const area = (file: string): string => relative('mail', file).split('/')[0] ?? '';

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

  test.each([
    // A pure language knows neither the store, nor a protocol server, nor decisions.
    ['message', ['message']],
    ['smtp', ['smtp', 'message']],
    ['auth', ['auth', 'limits', 'message', 'dns']],
    ['dns', ['dns', 'limits']],
    // Reports of other servers, read from their octets, and those to them.
    ['reports', ['reports', 'auth', 'message', 'limits', 'dns']],
    // Limits and caches know nothing of mail: every module may use them.
    ['limits', ['limits', 'log.ts']],
    // Decisions know their input, and nothing of the store.
    ['policy', ['policy', 'limits', 'auth', 'dns', 'message', 'log.ts']],
    ['store', ['store', 'limits', 'policy', 'message', 'log.ts']],
    // Copies of the store, made beside it.
    ['backup', ['backup', 'store']],
    ['filter', ['filter', 'limits', 'policy', 'auth', 'dns', 'store', 'message', 'log.ts']],
    ['guard', ['guard', 'limits', 'store', 'log.ts']],
    ['login', ['login', 'limits', 'guard', 'message', 'log.ts']],
    ['forwarder', ['forwarder', 'auth', 'message']],
    // Above the store, which calls it by hooks that it is handed; below everything that delivers and serves.
    ['agents', ['agents', 'limits', 'store', 'message', 'log.ts']],
    ['delivery', ['delivery', 'agents', 'limits', 'forwarder', 'policy', 'auth', 'store', 'message', 'log.ts']],
    ['jobs', ['jobs', 'agents', 'filter', 'delivery', 'policy', 'store', 'message', 'log.ts']],
    // Names of folders and flags are those of IMAP.
    ['transfer', ['transfer', 'imap', 'store', 'message', 'limits', 'log.ts']],
    // Protocol servers import lower layers, and never each other.
    [
      'receiver',
      [
        'receiver',
        'agents',
        'delivery',
        'filter',
        'policy',
        'forwarder',
        'guard',
        'limits',
        'login',
        'store',
        'smtp',
        'message',
        'auth',
        'log.ts',
      ],
    ],
    ['imap', ['imap', 'agents', 'limits', 'delivery', 'guard', 'login', 'store', 'message', 'log.ts']],
    ['jmap', ['jmap', 'limits', 'agents', 'delivery', 'login', 'store', 'message', 'log.ts']],
    ['relay', ['relay', 'limits', 'delivery', 'store', 'smtp', 'message', 'auth', 'dns', 'log.ts']],
  ])('mail/%s imports only %j', (name, allowed) => {
    const wrong = imports.filter(
      ({ from, to }) => from.startsWith(`mail/${name}/`) && to.startsWith('mail/') && !allowed.includes(area(to)),
    );
    expect(arrows(wrong)).toEqual([]);
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
