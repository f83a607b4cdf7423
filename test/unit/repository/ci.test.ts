import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SUITES = join(import.meta.dirname, '../../../.ci/suites');
/** Stands in for npm: says what the file named by its arguments holds, a line a run, and fails when that says so. */
const NPM = `#!/usr/bin/env bash
key=$(printf '%s' "\${*:2}" | tr -c 'a-z:.' '_')
echo x >>"$SAID/runs_$key"
[ -f "$SAID/$key" ] || { echo '1 passed, 0 failed'; exit 0; }
said=$(sed -n "$(wc -l <"$SAID/runs_$key")p" "$SAID/$key")
printf '%b\\n' "$said"
[[ $said != *[1-9]' failed' && $said != *Error* ]]
`;

let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'ci-'));
  mkdirSync(join(place, 'bin'));
  writeFileSync(join(place, 'bin/npm'), NPM);
  chmodSync(join(place, 'bin/npm'), 0o700);
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

/** Output of `.ci/suites` when npm prints the listed results for each script, run by run. */
function suites(said: Record<string, readonly string[]>): { status: number | null; end: string } {
  for (const [key, runs] of Object.entries(said)) writeFileSync(join(place, key), `${runs.join('\n')}\n`);
  const env = { ...process.env, PATH: `${join(place, 'bin')}:${process.env['PATH']}`, SAID: place };
  const { status, stdout } = spawnSync('bash', [SUITES], { env, encoding: 'utf8' });
  return { status, end: stdout.trimEnd().split('\n').slice(-2).join('\n') };
}

const FAILS = String.raw`failed: test/a.test.ts > it holds\n4 passed, 1 failed`;

test('the closing lines of all suites are added up', () => {
  expect(suites({ test: ['5 passed, 0 failed'] })).toEqual({
    status: 0,
    end: expect.stringMatching(/^test:load took \d+ s\n15 passed, 0 failed$/),
  });
});

test('a test that failed fails the run, by its name, and is not run again', () => {
  const { status, end } = suites({ test: [FAILS, '5 passed, 0 failed'] });
  expect({ status, end }).toEqual({ status: 1, end: 'failed: test/a.test.ts > it holds\n14 passed, 1 failed' });
});

test.each([
  ['says nothing', '', 10],
  ['ran nothing', '0 passed, 0 failed', 10],
  ['ends badly though no test failed', String.raw`Error: unhandled\n5 passed, 0 failed`, 15],
])('a suite that %s has failed', (_, said, passed) => {
  expect(suites({ test: [said] }).end).toBe(`failed: test as a whole\n${passed} passed, 1 failed`);
});
