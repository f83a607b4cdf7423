import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClockCheck, restoreClock } from '../../../mail/jobs/clock-check.ts';
import { RetentionJob } from '../../../mail/jobs/retention.ts';
import { CONFIRMATION_MS, SteadyClock } from '../../../mail/jobs/steady-clock.ts';
import { quiet } from '../../../mail/log.ts';
import { toAttemptResult, withoutJump } from '../../../mail/relay/attempt-result.ts';
import type { QueueItem } from '../../../mail/relay/relay-queue.ts';
import { mailParts } from '../../../mail/store-thread-parts.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { expunge } from '../../../mail/store/mailbox/entry-commands.ts';
import { putMail } from '../../support/put-mail.ts';
import { testAccount, testStore, type TestStore } from '../../support/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The flag \Deleted. */
const DELETED = 16;
const NOW = Date.UTC(2026, 10, 23);

/** A machine whose two clocks are set by hand. */
class Machine {
  wall = NOW;
  monotonic = 1000;
  readonly start = (): SteadyClock =>
    new SteadyClock(
      () => this.wall,
      () => this.monotonic,
    );

  passes(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }
}

describe('a clock', () => {
  test.each([
    ['a minute back', -60_000, 'steady', NOW - 60_000],
    ['half an hour ahead', HOUR / 2, 'steady', NOW + HOUR / 2],
    ['a day back', -DAY, 'behind', NOW],
    ['to 1970', -NOW, 'behind', NOW],
    ['a year ahead', 365 * DAY, 'ahead', NOW + 365 * DAY],
  ])('that is set %s', (_name, jump, kind, now) => {
    const machine = new Machine();
    const clock = machine.start();
    machine.wall += jump;
    expect(clock.state().kind).toBe(kind);
    expect(clock.now()).toBe(now);
  });

  test('goes on by the monotonic clock after a jump back, and is steady when the system clock returns', () => {
    const machine = new Machine();
    const clock = machine.start();
    machine.wall = 0;
    machine.passes(HOUR + 0.25);
    expect(clock.now()).toBe(NOW + HOUR);
    machine.wall = NOW + HOUR;
    expect(clock.state()).toEqual({ kind: 'steady' });
  });

  test('believes a jump after a day, and a second jump begins a new day', () => {
    const machine = new Machine();
    const clock = machine.start();
    machine.wall += 365 * DAY;
    expect(clock.aheadMs()).toBe(365 * DAY);
    machine.passes(CONFIRMATION_MS - HOUR);
    machine.wall += 365 * DAY;
    expect(clock.state()).toMatchObject({ kind: 'ahead', leftMs: CONFIRMATION_MS });
    machine.passes(CONFIRMATION_MS - 1);
    expect(clock.state().kind).toBe('ahead');
    machine.passes(1);
    expect(clock.state()).toEqual({ kind: 'steady' });
    expect(clock.now()).toBe(NOW + 730 * DAY + 2 * DAY - HOUR);
  });

  test.each([
    ['off for a night', 12 * HOUR, 'steady'],
    ['off for a week, or set ahead', 7 * DAY, 'ahead'],
    ['started in 1970', -NOW, 'behind'],
  ])('remembers the time of the process before: %s', (_name, gap, kind) => {
    const machine = new Machine();
    const record = machine.start().record();
    machine.wall += gap;
    machine.monotonic = 5;
    const clock = machine.start();
    clock.restore(record);
    expect(clock.state().kind).toBe(kind);
    expect(clock.now()).toBe(Math.max(NOW, NOW + gap));
  });

  test('counts the time of several processes towards the day', () => {
    const machine = new Machine();
    let clock = machine.start();
    machine.wall += 365 * DAY;
    clock.state();
    for (let hours = 0; hours < 24; hours += 8) {
      expect(clock.state().kind).toBe('ahead');
      machine.passes(8 * HOUR);
      const record = clock.record();
      machine.monotonic = 5;
      clock = machine.start();
      clock.restore(record);
    }
    expect(clock.state().kind).toBe('steady');
  });
});

describe('purges', () => {
  const left = query('test-left', async (rx) => (await rx.get<{ n: number }>('SELECT count(*) AS n FROM email'))?.n);
  let box: TestStore;
  beforeEach(async () => {
    const parts = mailParts();
    box = await testStore({ ...parts, queries: [...parts.queries, left] });
  });
  afterEach(() => box.store[Symbol.asyncDispose]());

  test('wait after a jump of a year, also in the next process, and come when it is confirmed', async () => {
    const machine = new Machine();
    box.clock.now = machine.wall;
    const { account, inbox } = await testAccount(box.store);
    await putMail(box.store, { account, receivedAt: NOW, bits: DELETED }, 'Subject: deleted\n\ntext\n');
    await box.store.write(expunge, { account, mailbox: inbox, uids: [1] });
    let clock = machine.start();
    const run = async (): Promise<unknown> => {
      box.clock.now = clock.now();
      await new ClockCheck(box.store, clock, quiet).run();
      await new RetentionJob(box.store, () => clock.now(), quiet, [], clock).run();
      return box.store.read(left, undefined);
    };
    expect(await run()).toBe(1);
    machine.wall += 365 * DAY;
    expect(await run()).toBe(1);
    machine.monotonic = 5;
    clock = machine.start();
    await restoreClock(box.store, clock);
    expect(await run()).toBe(1);
    machine.passes(CONFIRMATION_MS + 1);
    expect(await run()).toBe(0);
  });
});

test('a message does not expire by a jump of the clock', () => {
  const item = { id: 1, attempts: 9, queuedAt: NOW, sender: {} } as unknown as QueueItem;
  const verdict = { outcome: 'deferred', code: 451, status: '4.0.0', text: 'later' } as const;
  const context = { host: undefined, tls: '', now: NOW + 365 * DAY, random: () => 0.5 };
  expect(toAttemptResult(item, verdict as never, context).outcome).toBe('failed');
  expect(toAttemptResult(withoutJump(item, 365 * DAY), verdict as never, context).outcome).toBe('deferred');
});
