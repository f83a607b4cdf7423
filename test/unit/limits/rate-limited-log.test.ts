import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rateLimitedLog } from '../../../mail/limits/rate-limited-log.ts';
import { quiet } from '../../../mail/log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a flood of one line is 600 lines a minute and the number of the others; what is ours passes whole', () => {
  const said: [string, object][] = [];
  const note = (fields: object, text: string): void => void said.push([text, fields]);
  const log = rateLimitedLog({ ...quiet, info: note, warn: note, error: note });
  for (let i = 0; i < 10_000; i++) log.info({ i }, 'login');
  log.info({}, 'another');
  for (let i = 0; i < 700; i++) log.error({}, 'ours');
  const count = (text: string): number => said.filter(([one]) => one === text).length;
  expect([count('login'), count('another'), count('ours')]).toEqual([600, 1, 700]);
  vi.advanceTimersByTime(60_000);
  expect(said.at(-1)).toEqual(['log lines omitted', { like: 'login', count: 9400 }]);
  log.info({ i: -1 }, 'login');
  expect(said.at(-1)).toEqual(['login', { i: -1 }]);
});
