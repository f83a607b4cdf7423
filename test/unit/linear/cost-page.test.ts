import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costName, COSTS } from '../../support/costs/index.ts';
import { costPage } from '../../support/costs/page.ts';

const root = join(import.meta.dirname, '../../..');

test('docs/cost.md is what npm run docs writes', () => {
  expect(readFileSync(join(root, 'docs/cost.md'), 'utf8')).toBe(costPage());
});

test('the place of each row exists', () => {
  const positions = new Set(COSTS.map(({ at }) => at));
  expect([...positions].filter((at) => !existsSync(join(root, at)))).toEqual([]);
});

test('each row has an input, a bound and a thread, and none stands twice', () => {
  expect(COSTS.length).toBeGreaterThan(300);
  expect(COSTS.filter(({ input, bound, thread }) => [input, bound, thread].includes(''))).toEqual([]);
  expect(new Set(COSTS.map(costName)).size).toBe(COSTS.length);
});
