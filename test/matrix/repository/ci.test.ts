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
[ "$said" != killed ] || exit 137
[ "$said" != broken ] || { printf '   \\033[31m× it holds\\n'; said=slow; }
[ "$said" != slow ] || sleep 60
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

/** Output of `.ci/suites` when npm prints the listed results for each script, run by run. `more`: settings. */
function suites(
  said: Record<string, readonly string[]>,
  more: NodeJS.ProcessEnv = {},
): { status: number | null; end: string; all: string } {
  for (const [key, runs] of Object.entries(said)) writeFileSync(join(place, key), `${runs.join('\n')}\n`);
  const path = `${join(place, 'bin')}:${process.env['PATH']}`;
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('CI_'));
  const env = { ...Object.fromEntries(own), PATH: path, SAID: place, CI_BEGAN: '', ...more };
  const { status, stdout } = spawnSync('bash', [SUITES], { env, encoding: 'utf8' });
  return { status, end: stdout.trimEnd().split('\n').slice(-2).join('\n'), all: stdout };
}

/** A run that began so many seconds ago. */
const began = (seconds: number): NodeJS.ProcessEnv => ({ CI_BEGAN: String(Math.floor(Date.now() / 1_000) - seconds) });

const FAILS = String.raw`failed: test/a.test.ts > it holds\n4 passed, 1 failed`;

test('the closing lines of all suites are added up', () => {
  expect(suites({ test: ['5 passed, 0 failed'] })).toMatchObject({
    status: 0,
    end: expect.stringMatching(/^test:load@2\/2 took \d+ s\n43 passed, 0 failed$/),
  });
});

test('a test that failed fails the run, by its name, and is not run again', () => {
  const { status, end } = suites({ test: [FAILS, '5 passed, 0 failed'] });
  expect({ status, end }).toEqual({ status: 1, end: 'failed: test/a.test.ts > it holds\n42 passed, 1 failed' });
});

test.each([
  ['says nothing', '', 38, 'with status 0: '],
  ['ran nothing', '0 passed, 0 failed', 38, 'with status 0: 0 passed, 0 failed'],
  ['ends badly though no test failed', String.raw`Error\n5 passed, 0 failed`, 43, 'with status 1: 5 passed, 0 failed'],
])('a suite that %s has failed, and it is said how it ended', (_, said, passed, how) => {
  const failure = `failed: test as a whole, which ended ${how}`;
  expect(suites({ test: [said] }).end).toBe(`${failure}\n${passed} passed, 1 failed`);
});

test('what would begin too late is left out by its name, and counts as skipped', () => {
  const { status, end, all } = suites({}, began(77 * 60));
  expect({ status, end }).toEqual({
    status: 0,
    end: 'left out, as time was over: test:load@2/2\n2 passed, 0 failed, 37 skipped',
  });
  expect(all).toContain('left out, as time was over: test:postgres@6/6\n');
});

test('what gives way to suites that need the machine alone runs after them', () => {
  expect(suites({}, began(60 * 60)).end).toMatch(/took \d+ s\n39 passed, 0 failed$/);
});

test('a suite that runs when all time is over is ended, and is no failure; others have run what would have followed it', () => {
  const others = Array.from({ length: 3 }, () => '1 passed, 0 failed');
  const journeys = { 'test:journeys______shard____': ['slow', ...others] };
  const { end, all } = suites(journeys, { ...began(45), CI_END: '1', CI_LAST: '1', CI_LAST_BESIDE: '1' });
  expect(all).toMatch(/left out, as time was over: test:journeys@1\/4, ended after \d+ s\n/);
  for (const part of ['journeys@2/4', 'matrix@4/4', 'journeys:postgres@2/4'])
    expect(all).toContain(`test:${part} took `);
  expect(end).toMatch(/\n\d+ passed, 0 failed, \d+ skipped$/);
});

test('a run whose first suite does not end in time has failed', () => {
  const { status, end, all } = suites(
    { test: ['slow'] },
    { ...began(58), CI_END: '1', CI_LAST: '0', CI_LAST_BESIDE: '0' },
  );
  expect(all).toContain('failed: test did not end in time\n');
  expect({ status, end }).toMatchObject({ status: 1, end: expect.stringMatching(/\n1 passed, 1 failed, 38 skipped$/) });
});

test('a suite that was killed for another reason than the time has failed', () => {
  expect(suites({ test: ['killed'] }).end).toBe(
    'failed: test as a whole, which ended with status 137: \n38 passed, 1 failed',
  );
});

test('a suite that is ended has failed if one of its tests had', () => {
  const journeys = { 'test:journeys______shard____': ['broken'] };
  const { all } = suites(journeys, { ...began(45), CI_END: '1', CI_LAST: '1', CI_LAST_BESIDE: '1' });
  expect(all).toContain('failed: test:journeys@1/4 as a whole, which ended with status 124: × it holds\n');
});
