import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorCaller } from '../../../src/core/caller.ts';
import { perform } from '../../../src/operations/perform.ts';
import { type TextArgument, textArguments } from '../../support/operation-samples.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

/** Texts that lead elsewhere where a name becomes a path. */
const PATHS = [
  '../../escaped',
  '..\\..\\escaped',
  '%2e%2e%2fescaped',
  '/escaped',
  '//escaped',
  './escaped',
  '~/escaped',
  '.',
  '..',
  '.env',
  'CON',
  'escaped:stream',
  `escaped${'x'.repeat(300)}`,
  '-rf',
  '$HOME/escaped',
  'file:///escaped',
];

let beside: readonly string[] = [];
beforeAll(async () => {
  beside = await readdir(dirname(tenants.dataDir));
});

test.each(textArguments().map((one): [string, TextArgument] => [`${one.operation.name} ${one.path}`, one]))(
  'a text that leads elsewhere is no trouble: %s',
  async (_name, { operation, args }) => {
    const caller = operation.operatorOnly === true ? operatorCaller() : tenants.a.caller;
    for (const text of PATHS) {
      const said = await perform(tenants.world, operation, caller, args(tenants.a.main, text));
      expect(said.kind === 'done' ? 'done' : said.refusal.error, text).not.toBe('internal');
    }
  },
);

test('none of them became the name of a file', async () => {
  const { a, dataDir } = tenants;
  const known =
    /^(?:(?:mailstead|mailstead-text|lock)\.db(?:-wal|-shm|-journal)?|blobs(?:\/[0-9a-f]{2})?|services(?:\/svc_\d+\.env)?)$/;
  const names = await readdir(dataDir, { recursive: true });
  expect(names.filter((name) => !known.test(name))).toEqual([]);
  const added = (await readdir(dirname(dataDir))).filter((name) => !beside.includes(name));
  expect(added.filter((name) => name.includes('escaped'))).toEqual([]);
  expect(existsSync('/escaped')).toBe(false);
  expect(await readdir(join(dataDir, 'services'))).toContain(`${a.main.serviceId}.env`);
});
