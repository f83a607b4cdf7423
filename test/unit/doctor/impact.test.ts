import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { impactOf } from '../../../src/doctor/impact.ts';

const FOLDER = join(import.meta.dirname, '../../../src/doctor');

test('every check of the doctor has a sentence of its own on why it matters', () => {
  const text = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(FOLDER, name), 'utf8'))
    .join('\n');
  const names = new Set([...text.matchAll(/\b(?:un)?healthy\('([^']+)'/g)].map((found) => found[1] ?? ''));
  expect(names.size).toBeGreaterThan(15);
  const general = impactOf('no such check');
  expect([...names].filter((name) => impactOf(name) === general)).toEqual([]);
});

test('no check that can fail is without advice', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));
  const without = files.filter((name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    return /\bunhealthy\([^;]*,\s*''\s*,?\s*\);/.test(text);
  });
  expect(without).toEqual([]);
});
