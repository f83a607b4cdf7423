import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PROGRAMS } from '../../../src/cli/programs.ts';
import { toolsPage } from '../../../src/cli/tools.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { BOX_OPERATIONS } from '../../../src/operations/operator/index.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const documents = [
  'README.md',
  'SECURITY.md',
  'test/abuse-tests.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'CONTRIBUTING.md',
  'CHANGELOG.md',
];
const engine = readdirSync(join(root, 'mail'), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const cited = new Set(
  engine.flatMap((file) => [...read(`mail/${file}`).matchAll(/\bRFC (\d{3,5})\b/g)].map((found) => found[1])),
);
const rows = [...read('mail/README.md').matchAll(/^\| (\d{3,5}) \| [^|]+ \| (\S+) \|$/gm)].map((row) => ({
  rfc: row[1],
  file: row[2] ?? '',
}));

describe('what the documents say is so', () => {
  test('every RFC that the engine cites is in the table, and no other', () => {
    expect(new Set(rows.map((row) => row.rfc))).toEqual(cited);
  });

  test.each(rows)('RFC $rfc is cited in mail/$file', ({ rfc, file }) => {
    expect(read(`mail/${file}`)).toMatch(new RegExp(`\\bRFC ${rfc}\\b`));
  });

  test.each(documents)('the files that %s names exist', (document) => {
    const named = [...read(document).matchAll(/\]\(([^)#:]+)\)/g)].map((link) => link[1] ?? '');
    expect(named.filter((path) => !existsSync(join(root, document, '..', path)))).toEqual([]);
  });

  // A path in code style: from the root in docs/, from mail/ or the root in mail/README.md; a module is named without `.ts`.
  test.each(['docs/architecture.md', 'mail/README.md', 'CONTRIBUTING.md'])(
    'the paths in the text of %s exist',
    (document) => {
      const paths = [...read(document).matchAll(/`((?:mail|src|test|tools|bench|[a-z-]+)\/[\w./-]+)`/g)].map(
        (one) => one[1] ?? '',
      );
      const candidates = (path: string): string[] => [
        path,
        `${path}.ts`,
        join('mail', path),
        join('mail', `${path}.ts`),
      ];
      expect(paths.length).toBeGreaterThan(0);
      expect(paths.filter((path) => !candidates(path).some((one) => existsSync(join(root, one))))).toEqual([]);
    },
  );

  test('every row of test/abuse-tests.md says what is demanded, and names files of tests', () => {
    const table = read('test/abuse-tests.md').matchAll(/^\| ([A-Z]\d+) \| ([^|]{20,}) \| ([^|]+) \|$/gm);
    const held = Array.from(table, ([, row, , files = '']) => ({
      row,
      files: [...files.matchAll(/\]\(([^)]+\.(?:test\.ts|dialog))\)/g)],
    }));
    const numbers = (letter: string, ...all: number[]): string[] => all.map((one) => `${letter}${one}`);
    expect(held.map(({ row }) => row)).toEqual([
      ...numbers('C', 3, 4, 5, 6, 7, 8, 9, 10),
      ...numbers('D', 1, 2, 3, 4, 5, 6),
      ...numbers('E', 1, 2, 3, 4, 10, 11, 12, 13, 14, 18),
    ]);
    expect(held.filter(({ files }) => files.length === 0)).toEqual([]);
  });

  test('every finding of test/abuse-tests.md says what is demanded, and names files of tests', () => {
    const [, table = ''] = read('test/abuse-tests.md').split('## Findings');
    const rows = [...table.matchAll(/^\| ([A-F][^|]*|second look) \| ([^|]{20,}) \| ([^|]+) \|$/gm)];
    expect(rows).toHaveLength(table.match(/^\| (?!finding)\w/gm)?.length ?? 0);
    expect(new Set(rows.map(([, row = '']) => row.charAt(0)))).toEqual(new Set('ABCDEFs'));
    expect(rows.filter(([, , , files = '']) => !/\]\([^)]+\.test\.ts\)/.test(files))).toEqual([]);
  });

  test('every command in the documents is one that the command knows, and the help lists', () => {
    const help = execFileSync(join(root, 'bin/mailstead'), ['--help'], { encoding: 'utf8' });
    const known = [...PROGRAMS, ...VERBS].map((one) => one.words);
    expect(known.filter((words) => !help.includes(`  ${words}`))).toEqual([]);
    const text = documents.map(read).join('\n');
    const used = [...text.matchAll(/bin\/mailstead ([a-z-]+(?: [a-z]+)?)/g)].map((found) => found[1] ?? '');
    expect(used.length).toBeGreaterThan(40);
    const knows = (words: string): boolean => known.some((one) => `${words} `.startsWith(`${one} `));
    expect(used.filter((words) => !knows(words) && words !== '--help')).toEqual([]);
    const operations = [...CATALOGUE, ...BOX_OPERATIONS].map((one) => one.name);
    const called = [...text.matchAll(/bin\/mailstead call ([a-z_]+)/g)].map((found) => found[1] ?? '');
    expect(called.filter((name) => !operations.includes(name))).toEqual([]);
  });

  test('docs/tools.md is what the operations say: npm run docs makes it', () => {
    expect(read('docs/tools.md')).toBe(toolsPage());
  });

  test('the command answers wrong use with 2 and a sentence', () => {
    const run = (): string =>
      execFileSync(join(root, 'bin/mailstead'), ['queue', 'retry'], { encoding: 'utf8', stdio: 'pipe' });
    expect(run).toThrow(
      expect.objectContaining({
        status: 2,
        stderr: expect.stringContaining('usage: mailstead queue retry') as unknown,
      }),
    );
  });
});
