import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { arrows, cycleIn, type Import, imports, root, sources } from './import-graph.ts';

/**
 * Rings of src, inner to outer. A file imports only its own ring and the rings above it in this table, types included.
 *
 * | ring       | folders                                    | holds                                                        |
 * | core       | core                                       | Operation, Caller, Refusal, ids, AppContext as interfaces      |
 * | areas      | every folder that no other ring names      | commands, queries and rules of one noun                       |
 * | operations | operations                                 | one object for each thing that can be done                    |
 * | endpoints  | cli http jmap mcp oauth portal ...      | protocols over operations                                     |
 * | start      | start                                      | composition roots: main, the appliance, the threads, the seed |
 */
const RINGS = {
  core: ['core'],
  areas: [
    'accounts',
    'acme',
    'agents',
    'approvals',
    'audit',
    'backup',
    'bootstrap',
    'canaries',
    'certificates',
    'client-setup',
    'deliverability',
    'digest',
    'name-server',
    'dns-providers',
    'doctor',
    'domains',
    'events',
    'history',
    'notices',
    'webmail-sessions',
    'mailboxes',
    'organizations',
    'people',
    'reading',
    'recovery',
    'reports',
    'smarthosts',
    'sending',
    'services',
    'single-sign-on',
    'tls',
    'tokens',
    'trace',
    'transfers',
    'unsubscribe',
    'untrusted',
    'waiting',
    'webhooks',
  ],
  operations: ['operations'],
  endpoints: ['cli', 'mcp-stdio', 'operator-socket', 'http', 'jmap', 'mcp', 'oauth', 'portal', 'webmail'],
  start: ['start'],
} as const;

/** Imports that may point outwards, each with its reason. At most five. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

/** Libraries of one ring: nothing inside of it may know HTTP. */
const HTTP_LIBRARIES = /^(?:fastify|@fastify\/|@modelcontextprotocol\/)/;

const folderOf = (file: string): string => file.split('/')[1] ?? '';
const ringOf = (file: string): number =>
  Object.values(RINGS).findIndex((folders: readonly string[]) => folders.includes(folderOf(file)));
const own = imports.filter(({ from, to }) => from.startsWith('src/') && to.startsWith('src/'));

describe('the rings of src', () => {
  test('every file lies in a folder of a ring', () => {
    const known: readonly string[] = Object.values(RINGS).flat();
    const folders = new Set(sources.filter((file) => file.startsWith('src/')).map(folderOf));
    expect([...folders].toSorted()).toEqual(known.toSorted());
    expect(readdirSync(join(root, 'src')).filter((name) => name.includes('.'))).toEqual([]);
    expect(own.length).toBeGreaterThan(2000);
  });

  test('nothing imports outwards, types included', () => {
    const outward = own.filter(({ from, to }) => ringOf(to) > ringOf(from));
    expect(arrows(outward)).toEqual(Object.keys(EXCEPTIONS));
    expect(Object.keys(EXCEPTIONS).length).toBeLessThanOrEqual(5);
  });

  test('only endpoints and start use an HTTP library', () => {
    const endpoints = Object.keys(RINGS).indexOf('endpoints');
    const wrong = imports.filter(
      ({ from, to }) => from.startsWith('src/') && HTTP_LIBRARIES.test(to) && ringOf(from) < endpoints,
    );
    expect(arrows(wrong)).toEqual([]);
  });

  test.each([
    ['at run time', (one: Import): boolean => !one.typeOnly],
    ['with types', (): boolean => true],
  ])('no folder of src depends on itself, %s', (_, counts) => {
    expect(cycleIn(own.filter(counts), folderOf)).toBeUndefined();
  });
});
