import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Job, Scheduler } from '../../../mail/jobs/scheduler.ts';
import { type Log, quiet } from '../../../mail/log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const begun: number[] = [];
function started(over: Partial<Job> = {}, log: Log = quiet): AsyncDisposable {
  begun.length = 0;
  const run = (): Promise<void> => {
    begun.push(Date.now());
    return Promise.resolve();
  };
  const scheduler = new Scheduler({ clock: Date.now, log, random: () => 0.5 });
  return scheduler.add({ name: 'test', everyMs: 1000, run, ...over });
}

test('a run follows another, the first when it is said', async () => {
  await using _job = started({ firstMs: 10 });
  const from = Date.now();
  await vi.advanceTimersByTimeAsync(2015);
  expect(begun.map((at) => at - from)).toEqual([10, 1010, 2010]);
});

test('pauses of a minute and more are spread', async () => {
  await using _job = started({ everyMs: 60_000, firstMs: 0 });
  const from = Date.now();
  await vi.advanceTimersByTimeAsync(64_000);
  expect(begun.map((at) => at - from)).toEqual([0, 63_000]);
});

test('a job runs again when its work is due, never in a hot loop and never later than its pause', async () => {
  const at: number[] = [];
  const due = [300, -5000, 1e9];
  await using _job = started({
    firstMs: 0,
    run: () => {
      at.push(Date.now());
      return Promise.resolve(Date.now() + (due.shift() ?? 0));
    },
  });
  const from = Date.now();
  await vi.advanceTimersByTimeAsync(1360);
  expect(at.map((one) => one - from)).toEqual([0, 300, 350, 1350]);
});

test('no run begins while another one lasts, and closing stops it and waits for its end', async () => {
  const long = Promise.withResolvers<void>();
  let [open, most] = [0, 0];
  let queried: AbortSignal | undefined;
  const job = started({
    async run(stop) {
      queried = stop;
      most = Math.max(most, ++open);
      await long.promise;
      open--;
    },
  });
  await vi.advanceTimersByTimeAsync(10_000);
  let closed = false;
  expect(queried?.aborted).toBe(false);
  const closing = job[Symbol.asyncDispose]().then(() => (closed = true));
  await vi.advanceTimersByTimeAsync(1);
  expect([open, most, closed, queried?.aborted]).toEqual([1, 1, false, true]);
  long.resolve();
  await closing;
  await vi.advanceTimersByTimeAsync(10_000);
  expect([open, most, closed]).toEqual([0, 1, true]);
});

test.each([
  [undefined, 600_000],
  [60_000, 60_000],
])(
  'failures are logged and make the pause longer, up to %j; after a success it is as before',
  async (backoffMs, most) => {
    const logged: object[] = [];
    let broken = true;
    const at: number[] = [];
    await using _job = started(
      {
        ...(backoffMs !== undefined && { backoffMs }),
        run: () => {
          at.push(Date.now());
          return broken ? Promise.reject(new Error('no')) : Promise.resolve();
        },
      },
      { ...quiet, error: (fields: object) => logged.push(fields) },
    );
    const from = Date.now();
    await vi.advanceTimersByTimeAsync(1000 * 1024);
    expect(at.slice(0, 5).map((one) => one - from)).toEqual([1000, 3000, 7000, 15_000, 31_000]);
    expect(logged[0]).toMatchObject({ job: 'test', err: new Error('no') });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect((at.at(-1) ?? 0) - (at.at(-2) ?? 0)).toBe(most);
    broken = false;
    await vi.advanceTimersByTimeAsync(600_000);
    const before = at.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(at.length - before).toBeGreaterThanOrEqual(9);
  },
);
