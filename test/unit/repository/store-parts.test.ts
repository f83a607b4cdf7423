import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { storeParts } from '../../../src/start/store-parts.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const texts = ['mail', 'src'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('/client/'))
    .map((file) => readFileSync(join(root, top, file), 'utf8')),
);

const DECLARED = /\bconst (\w+)(?:: [^=]+)? = (command|query|lookup)(?:<[^()]*?>)?\(\s*'([\w-]+)'/g;
const SCANNED = /\.(?:scan|search)\(\s*(\w+),/g;

const declared = texts.flatMap((text) =>
  [...text.matchAll(DECLARED)].map(([, constant = '', kind = '', name = '']) => ({ constant, kind, name })),
);
const { commands, queries } = storeParts();

// A thread runs what it knows by name: another one is refused when it is first used.
test('every command is known to the writer', () => {
  // Commands of JMAP are known in the form that checks the state.
  const known = new Set(commands.map(({ name }) => name.replace(/ in state$/, '')));
  const all = declared.filter(({ kind }) => kind === 'command');
  expect(all.length).toBeGreaterThan(300);
  expect(all.filter(({ name }) => !known.has(name))).toEqual([]);
});

test('every query that another thread runs is known to it', () => {
  const known = new Set(queries.map(({ name }) => name));
  const constants = new Set(texts.flatMap((text) => [...text.matchAll(SCANNED)].map(([, constant]) => constant)));
  const all = declared.filter(({ kind, constant }) => kind !== 'command' && constants.has(constant));
  expect(all.length).toBeGreaterThan(20);
  expect(all.filter(({ name }) => !known.has(name))).toEqual([]);
});
