import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { Rounds, type RoundsOptions } from '../../../src/letters/rounds.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const begun: number[] = [];
function started(over: Partial<RoundsOptions> = {}): Rounds {
  begun.length = 0;
  const round = (): Promise<void> => {
    begun.push(Date.now());
    return Promise.resolve();
  };
  return new Rounds({ round, everyMs: 1000, failed: 'it failed', log: quiet, ...over });
}

test('a round follows another, the first when it is said', async () => {
  await using rounds = started({ firstMs: 10 });
  const from = Date.now();
  await vi.advanceTimersByTimeAsync(2015);
  expect(begun.map((at) => at - from)).toEqual([10, 1010, 2010]);
  expect(rounds.closing).toBe(false);
});

test('no round begins while another one runs, and who closes waits for its end', async () => {
  const long = Promise.withResolvers<void>();
  let [open, most] = [0, 0];
  const rounds = started({
    async round() {
      most = Math.max(most, ++open);
      await long.promise;
      open--;
    },
  });
  await vi.advanceTimersByTimeAsync(10_000);
  let closed = false;
  const closing = rounds[Symbol.asyncDispose]().then(() => (closed = true));
  await vi.advanceTimersByTimeAsync(1);
  expect([open, most, closed, rounds.closing]).toEqual([1, 1, false, true]);
  long.resolve();
  await closing;
  await vi.advanceTimersByTimeAsync(10_000);
  expect([open, most, closed]).toEqual([0, 1, true]);
});

test('failures are said and make the pause longer, up to ten minutes; after a success it is as before', async () => {
  const said: string[] = [];
  let broken = true;
  const at: number[] = [];
  await using rounds = started({
    round: () => {
      at.push(Date.now());
      return broken ? Promise.reject(new Error('no')) : Promise.resolve();
    },
    log: { ...quiet, error: (_fields: object, message: string) => said.push(message) },
  });
  const from = Date.now();
  await vi.advanceTimersByTimeAsync(1000 * 1024);
  expect(at.slice(0, 5).map((one) => one - from)).toEqual([1000, 3000, 7000, 15_000, 31_000]);
  expect(new Set(said)).toEqual(new Set(['it failed']));
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect((at.at(-1) ?? 0) - (at.at(-2) ?? 0)).toBe(600_000);
  broken = false;
  await vi.advanceTimersByTimeAsync(600_000);
  const before = at.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(at.length - before).toBeGreaterThanOrEqual(9);
  expect(rounds.closing).toBe(false);
});
