import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PARSERS } from '../../support/parsers.ts';

const root = join(import.meta.dirname, '../../..');
const rows = readFileSync(join(root, 'docs/cost.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('each function of the page is driven with its worst case, and its test exists', () => {
  const driven = new Set(PARSERS.map(({ name }) => name));
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.filter(([, name = '']) => !driven.has(name.replaceAll('`', '')))).toEqual([]);
  expect(rows.filter((cells) => !existsSync(join(root, cells[5] ?? '')))).toEqual([]);
});
