import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sealedPassword } from '../../../mail/store/account/credential.ts';
import { createService, setControl } from '../../../src/services/commands.ts';
import { envFilePath, rewriteEnvFiles, servicesDir } from '../../../src/services/env-file.ts';
import { ENV_PURPOSE, type Environment, envFileText } from '../../../src/services/environment.ts';
import { addRevision } from '../../../src/services/commands.ts';
import { readAsCompose, readAsSystemd } from '../../support/env-readers.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';
import * as fc from '../../support/fast-check.ts';

const VALUES = [
  '',
  'plain',
  'with space',
  ' leading and trailing ',
  "o'range",
  'say "hi"',
  `both ' and "`,
  '$HOME',
  '${HOME:-x}',
  '$$',
  "it's $1.50",
  '\\',
  'C:\\dir\\',
  'C:\\dir\\\\',
  "it's C:\\new\\table\\",
  '\\n is no line',
  "'\\n'",
  '`id`',
  "'`id`'",
  '# no comment',
  'a #b',
  ';x',
  '=',
  'a=b',
  'export A=1',
  'grüße 日本語 🙂',
  '\u00a0\u0085?',
  'x'.repeat(10_000),
  "'",
  '"',
  `"'`,
  `\\'"$\``,
  '%h%n',
  'pässwörd-with-$-and-\\-and-\'-and-"-end\\',
];

test.each(VALUES)('systemd and docker compose both read %j as it is', (value) => {
  const environment: Environment = { BEFORE: '1', VALUE: value, AFTER: '2' };
  const text = envFileText(environment);
  expect(text.split('\n')).toHaveLength(5);
  expect(readAsSystemd(text)).toEqual(environment);
  expect(readAsCompose(text)).toEqual(environment);
});

test('any line of text comes back as it is', () => {
  const odd = fc.constantFrom("'", '"', '\\', '$', '`', ' ', '#', ';', '=', '{', '}', 'a', 'n', '0', 'ß', '🙂');
  fc.assert(
    fc.property(fc.string({ unit: odd, maxLength: 40 }), (value) => {
      const text = envFileText({ VALUE: value, AFTER: 'x' });
      expect(readAsSystemd(text)).toEqual({ VALUE: value, AFTER: 'x' });
      expect(readAsCompose(text)).toEqual({ VALUE: value, AFTER: 'x' });
    }),
    { numRuns: 3_000 },
  );
});

describe('the file', () => {
  async function service(box: TestWorld, name: string): Promise<number> {
    const made = await box.world.store.write(createService, { organization: 1, project: 1, name });
    const id = made.kind === 'created' ? made.id : expect.fail(made.kind);
    const control = JSON.stringify({ kind: 'none', variables: ['A', 'NUMBER', 'PADDING', 'END'] });
    await box.world.store.write(setControl, { id, control });
    return id;
  }
  async function deploy({ world }: TestWorld, id: number, number: number, env: Environment): Promise<void> {
    const sealed = world.secrets.seal(
      ENV_PURPOSE,
      'service_revision',
      `${id}/${number}`,
      Buffer.from(JSON.stringify(env)),
    );
    await world.store.write(addRevision, { service: id, number, env: sealed, spec: '{}', by: 'test' });
  }
  /** Long enough for a write to take several turns of the disk. */
  const big = (number: number): Environment => ({ NUMBER: `${number}`, PADDING: 'p'.repeat(15_000), END: `${number}` });

  test('is whole at each moment while a hundred changes are written at once, and the last one stays', async () => {
    await using box = await testWorld();
    const id = await service(box, 'shop');
    const path = envFilePath(box.store.dataDir, id);
    await deploy(box, id, 1, big(1));
    await rewriteEnvFiles(box.world, [id]);
    const written = new AbortController();
    let looks = 0;
    const reader = (async () => {
      while (!written.signal.aborted) {
        const { NUMBER, PADDING, END } = readAsSystemd(await readFile(path, 'utf8'));
        expect([PADDING?.length, END]).toEqual([15_000, NUMBER]);
        looks++;
      }
    })();
    const writes: Promise<void>[] = [];
    for (let number = 2; number <= 100; number++) {
      await deploy(box, id, number, big(number));
      writes.push(rewriteEnvFiles(box.world, [id]));
    }
    await Promise.all(writes);
    written.abort();
    await reader;
    expect(looks).toBeGreaterThan(10);
    expect(readAsSystemd(await readFile(path, 'utf8'))['NUMBER']).toBe('100');
    expect(await readdir(servicesDir(box.store.dataDir))).toEqual([`svc_${id}.env`]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(servicesDir(box.store.dataDir))).mode & 0o777).toBe(0o700);
  });

  test('that cannot be written leaves nothing half made behind, and later ones are written', async () => {
    await using box = await testWorld();
    const [id, other] = [await service(box, 'shop'), await service(box, 'other')];
    await deploy(box, id, 1, { A: '1' });
    await rewriteEnvFiles(box.world, [other]);
    // A directory in its place: the last step fails.
    const { mkdir, rmdir } = await import('node:fs/promises');
    await mkdir(envFilePath(box.store.dataDir, id));
    await expect(rewriteEnvFiles(box.world, [id])).rejects.toThrow(/EISDIR|EEXIST|ENOTEMPTY/);
    expect((await readdir(servicesDir(box.store.dataDir))).filter((name) => name.endsWith('.new'))).toEqual([]);
    await rmdir(envFilePath(box.store.dataDir, id));
    await rewriteEnvFiles(box.world, [id]);
    expect(await readFile(envFilePath(box.store.dataDir, id), 'utf8')).toContain('A=1');
  });

  test('of a service that is gone, or that was never whole, is removed at the next start', async () => {
    await using box = await testWorld();
    const id = await service(box, 'shop');
    await deploy(box, id, 1, { A: '1' });
    await rewriteEnvFiles(box.world, [id]);
    const directory = servicesDir(box.store.dataDir);
    for (const name of [
      `svc_${id}.env.0a1b2c.new`,
      'svc_4711.env',
      'svc_4711.log',
      'svc_4711.log.1',
      'svc_4711.env.ab.new',
      'notes.txt',
    ]) {
      await writeFile(join(directory, name), 'PASSWORD=old');
    }
    await box.world.runner.begin();
    expect((await readdir(directory)).toSorted()).toEqual(['notes.txt', `svc_${id}.env`]);
  });

  test('that cannot be opened keeps neither the box nor other services from starting', async () => {
    await using box = await testWorld();
    const [broken, good] = [await service(box, 'broken'), await service(box, 'good')];
    await box.world.store.write(addRevision, {
      service: broken,
      number: 1,
      env: new Uint8Array(64),
      spec: '{}',
      by: 'test',
    });
    await deploy(box, good, 1, { A: '1' });
    await box.world.runner.begin();
    expect(await readFile(envFilePath(box.store.dataDir, good), 'utf8')).toContain('A=1');
    expect(await box.world.store.read(sealedPassword, { account: 4711 })).toBeUndefined();
  });
});
