import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FixtureServer, startFixtureServer } from './fixture-server.ts';
import { failing, runSuite, type SuiteResult } from './suite-run.ts';

const EXPECTED = join(import.meta.dirname, 'expected-2025.yml');

let server: FixtureServer;
let expected: string[];

beforeAll(async () => {
  server = await startFixtureServer();
  const listed = await readFile(EXPECTED, 'utf8');
  expected = [...listed.matchAll(/^ {2}- (\S+) #/gm)].map((found) => found[1] ?? '');
});
afterAll(() => server[Symbol.asyncDispose]());

const scenarios = (result: SuiteResult): number => result.scored.size;
const checks = (result: SuiteResult, which: 'passed' | 'failed'): number =>
  [...result.scored.values()].reduce((sum, one) => sum + one[which], 0);

test('the stable suite, 0.1.16: 27 of 31 checks, and no failure but those with a reason', async () => {
  const result = await runSuite('stable', `${server.authorized}/mcp`, { expected: EXPECTED });
  expect(failing(result), result.output).toEqual(expected);
  expect(result.status).toBe(0);
  expect(scenarios(result)).toBe(30);
  expect([checks(result, 'passed'), checks(result, 'failed')]).toEqual([27, 4]);
});

test('what revision 2025-11-25 requires: 26 of 30 scenarios, and no failure but those with a reason', async () => {
  const options = { revision: '2025-11-25', expected: EXPECTED };
  const result = await runSuite('next', `${server.authorized}/mcp`, options);
  expect(failing(result), result.output).toEqual(expected);
  expect(result.status).toBe(0);
  expect(scenarios(result)).toBe(30);
});

test('what revision 2026-07-28 requires: 37 of 37 scenarios', async () => {
  const result = await runSuite('next', `${server.authorized}/mcp`, { revision: '2026-07-28' });
  expect(failing(result), result.output).toEqual([]);
  expect(result.status).toBe(0);
  expect(scenarios(result)).toBe(37);
});

test('without a token the same suite gets no further than the handshake', async () => {
  const result = await runSuite('next', `${server.base}/mcp`, { revision: '2025-11-25' });
  const open = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-sse-multiple-streams'];
  const passed = [...result.scored.keys()].filter((name) => !failing(result).includes(name));
  expect(passed.toSorted()).toEqual(open.toSorted());
});
