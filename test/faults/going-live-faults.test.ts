import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { runInNamespace } from '../support/network-namespace.ts';

/** Faults of the world around one running server, and five tests beside them. */
const TESTS = 67;

test('in a small internet of its own, a server is put into each fault of going live', async () => {
  const vitest = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--root', '.'];
  const config = ['--config', 'test/internet/vitest.config.ts', 'test/internet/faults.test.ts'];
  const { status, output } = await runInNamespace([...vitest, ...config]);
  expect(status, output).toBe(0);
  expect(stripVTControlCharacters(output)).toMatch(new RegExp(`Tests +${TESTS} passed`));
  console.log(/\d+ faults, .*/.exec(output)?.[0]);
});
