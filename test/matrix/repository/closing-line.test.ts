import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'closing-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** Last lines of a run of one file of tests that uses the reporter of all suites. */
function endOf(body: string, lines: number): { status: number | null; end: string } {
  writeFileSync(
    join(place, 'one.test.js'),
    `import { afterAll, test } from '${ROOT}/node_modules/vitest/dist/index.js';\n${body}`,
  );
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporter = join(ROOT, 'test/support/closing-line.ts');
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run', '--reporter', reporter], {
    cwd: place,
    encoding: 'utf8',
    env: { ...process.env, VITEST: '', VITEST_POOL_ID: '', VITEST_WORKER_ID: '' },
  });
  return { status, end: stdout.trimEnd().split('\n').slice(-lines).join('\n') };
}

test('an error outside of any test fails the run by its file and reason, though all tests passed', () => {
  const late = `test('passes', () => { void Promise.reject(new Error('came late')); return new Promise((done) => setTimeout(done, 50)); });`;
  expect(endOf(late, 2)).toEqual({
    status: 1,
    end: 'failed: one.test.js, outside of any test: came late\n1 passed, 1 failed',
  });
});

test('a file whose hook fails behind its tests is named with the reason', () => {
  const hook = `test('passes', () => undefined); afterAll(() => { throw new Error('cannot end'); });`;
  expect(endOf(hook, 2)).toEqual({ status: 1, end: 'failed: one.test.js: cannot end\n1 passed, 1 failed' });
});

test('a run without failures ends with its numbers alone', () => {
  expect(endOf(`test('passes', () => undefined);`, 1)).toEqual({ status: 0, end: '1 passed, 0 failed' });
});
