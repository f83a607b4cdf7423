import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { runInNamespace } from '../support/network-namespace.ts';

test('in a small internet of its own, a server goes live by its set-up page', { timeout: 900_000 }, async () => {
  const command = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--root', '.'];
  const { status, output } = await runInNamespace([
    ...command,
    '--config',
    'test/internet/vitest.config.ts',
    'test/internet/going-live.test.ts',
  ]);
  expect(status, output).toBe(0);
  expect(stripVTControlCharacters(output)).toMatch(/Tests +1 passed/);
  console.log(/\d+ actions beyond .*/.exec(output)?.[0]);
});
