import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JMAP_LIMITS } from '../../../mail/jmap/core/capabilities.ts';
import { METHODS } from '../../../mail/jmap/methods.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/jmap.md'), 'utf8');

test('the page on JMAP lists every method that is understood, under its capability, and no other', () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| ([A-Z]\w+\/.*) \|$/gm)];
  const listed = rows.flatMap(([, capability = '', groups = '']) =>
    groups.split('; ').flatMap((group) => {
      const [noun = '', verbs = ''] = group.split('/');
      return verbs.split(' ').map((verb) => `urn:ietf:params:jmap:${capability} ${noun}/${verb}`);
    }),
  );
  expect(listed.toSorted()).toEqual(METHODS.map((method) => `${method.capability} ${method.name}`).toSorted());
});

test('the page on JMAP has the limits that are advertised', () => {
  const rows = [...page.matchAll(/^\| `(max\w+)` \| ([\d,]+) .* \|$/gm)];
  const listed = Object.fromEntries(rows.map(([, name, figure = '']) => [name, Number(figure.replaceAll(',', ''))]));
  expect(listed).toEqual(JMAP_LIMITS);
});
