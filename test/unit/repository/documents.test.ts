import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

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

  test.each(['README.md', 'docs/operating.md'])('the files that %s names exist', (document) => {
    const named = [...read(document).matchAll(/\]\(([^)#:]+)\)/g)].map((link) => link[1] ?? '');
    expect(named.filter((path) => !existsSync(join(root, document, '..', path)))).toEqual([]);
  });

  test('every command in the README is one that --help knows', () => {
    const help = execFileSync(join(root, 'bin/mailstead'), ['--help'], { encoding: 'utf8' });
    const used = [...read('README.md').matchAll(/bin\/mailstead ((?:[a-z]+ ?){1,2})/g)].map((found) =>
      (found[1] ?? '').trim(),
    );
    expect(used.length).toBeGreaterThan(5);
    const known = used.filter((words) => help.includes(`  ${words} `) || help.includes(`  ${words.split(' ')[0]} `));
    expect(known).toEqual(used);
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
