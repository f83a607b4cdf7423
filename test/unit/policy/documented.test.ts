import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../../config/settings.ts';
import { BRANDS } from '../../../mail/policy/look-alike/brands.ts';

const root = join(import.meta.dirname, '../../..');
const checks = join(root, 'mail/policy/checks');

test('docs/spam.md lists the rules of the checks, and no other', () => {
  const code = readdirSync(checks)
    .map((file) => readFileSync(join(checks, file), 'utf8'))
    .join('\n');
  const rules = [...code.matchAll(/(?:\brule: |\btoFinding\()\s*'([a-z-]+)'/g)].map((match) => match[1] ?? '');
  const section = /\n## Checks\n([\s\S]*?)\n## /.exec(readFileSync(join(root, 'docs/spam.md'), 'utf8'))?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map((match) => match[1]));
  expect(rules.length).toBeGreaterThan(30);
  expect(new Set(named)).toEqual(new Set(rules));
  expect(section).toContain(`about ${Math.round(BRANDS.length / 10) * 10} names`);
});

test('docs/spam.md states the terms of every DNS list that is a default, and marks no other as one', () => {
  const section = /\n## DNS lists\n([\s\S]*?)\n## /.exec(readFileSync(join(root, 'docs/spam.md'), 'utf8'))?.[1] ?? '';
  const named = [...section.matchAll(/^\| `([a-z.]+)` \(default\) \| .{40}/gm)].map((match) => match[1]);
  expect(named.join(',')).toBe(SETTINGS.DNSBL.live);
});
