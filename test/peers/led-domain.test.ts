import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { runInNamespace } from '../support/network-namespace.ts';

test('in a small internet of its own, a server leads a signed domain', { timeout: 900_000 }, async () => {
  const vitest = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--root', '.'];
  const config = ['--config', 'test/internet/vitest.config.ts', 'test/internet/led-domain.test.ts'];
  const { status, output } = await runInNamespace([...vitest, ...config]);
  expect(status, output).toBe(0);
  expect(stripVTControlCharacters(output)).toMatch(/Tests +1 passed/);
});
