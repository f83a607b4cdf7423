import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
/** An import that runs: Node erases `import type`, and keeps `import { type A }` as a load of the file. */
const LOADS = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?from\s+)?'([^']+)'/gm;

/** Everything that a start loads before the first request, by the first file that asks for it. */
function loadedAtStart(): Map<string, string> {
  const seen = new Map([['src/start/main.ts', '']]);
  for (const [file] of seen) {
    if (!file.endsWith('.ts')) continue;
    for (const [, target = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(LOADS)) {
      const name = target.startsWith('.') ? join(dirname(file), target) : target;
      if (!seen.has(name)) seen.set(name, file);
    }
  }
  return seen;
}

test('a start loads nothing that only requests need', () => {
  const loaded = loadedAtStart();
  expect(loaded.has('fastify')).toBe(true);
  // 40 MB that a box without agents does without.
  for (const heavy of ['zod', '@modelcontextprotocol/server', 'src/operations/catalogue.ts']) {
    expect(loaded.get(heavy), heavy).toBeUndefined();
  }
});
