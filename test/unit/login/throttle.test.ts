import { describe, expect, test } from 'vitest';

import { networkOf } from '../../../mail/guard/network.ts';
import { accountKeyOf, Throttle } from '../../../mail/login/throttle.ts';
import type { LoginAttempt } from '../../../mail/login/throttle.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 1);

const from = (network: string, account = 'me'): LoginAttempt => ({ network, account });

/** Fails from `network` at each of the times, counted from START, and returns which were admitted. */
function fail(throttle: Throttle, attempt: LoginAttempt, times: number[]): number {
  return times.filter((time) => throttle.admit(attempt, START + time).kind === 'go').length;
}

const every = (step: number, count: number, start = 0): number[] =>
  Array.from({ length: count }, (_, i) => start + i * step);

describe('failures from one address', () => {
  test.each<[string, number[], number]>([
    ['a thousand at once', every(0, 1000), 10],
    ['a thousand in a minute', every(59, 1000), 10],
    ['ten, then ten a minute after the first', [...every(SECOND, 10), ...every(SECOND, 10, MINUTE)], 20],
    [
      'ten at the end of a minute, ten at the start of the next',
      [...every(0, 10, 59 * SECOND), ...every(0, 10, 61 * SECOND)],
      10,
    ],
    ['one a minute for a day', every(MINUTE, 1439), 50],
    ['one an hour for a week', every(HOUR, 7 * 24), 7 * 24],
    ['fifty, and fifty the day after', [...every(10 * SECOND, 50), ...every(10 * SECOND, 50, 24 * HOUR)], 100],
  ])('%s', (_, times, checked) => {
    expect(fail(new Throttle(), from('a', 'x'), times)).toBe(checked);
  });

  test('never more than ten in any minute, whatever the rhythm', () => {
    for (const step of [0, 100, 3 * SECOND, 5900, 6 * SECOND, 7 * SECOND]) {
      const throttle = new Throttle({ perDay: 1e9, accountPerDay: 1e9 });
      const passed = every(step, 500).filter((time) => throttle.admit(from('a'), START + time).kind === 'go');
      for (const time of passed) {
        expect(passed.filter((other) => other >= time && other < time + MINUTE).length).toBeLessThanOrEqual(10);
      }
    }
  });

  test('say after how many seconds to try again', () => {
    const throttle = new Throttle();
    fail(throttle, from('a', 'x'), every(SECOND, 10));
    expect(throttle.check(from('a', 'x'), START + 20 * SECOND)).toEqual({ kind: 'throttled', retryAfter: 40 });
    fail(throttle, from('a', 'x'), every(10 * SECOND, 40, MINUTE));
    expect(throttle.check(from('a', 'x'), START + HOUR)).toEqual({ kind: 'throttled', retryAfter: 23 * 3600 });
    expect(throttle.check(from('a', 'x'), START + 24 * HOUR)).toEqual({ kind: 'go', delay: 0 });
  });

  test('do not touch another address', () => {
    const throttle = new Throttle();
    fail(throttle, from('a'), every(0, 50));
    expect(throttle.check(from('b'), START)).toEqual({ kind: 'go', delay: 0 });
  });

  test('are taken back when the attempt was right', () => {
    const throttle = new Throttle();
    for (const time of every(100, 1000)) {
      const admitted = throttle.admit(from('a'), START + time);
      expect(admitted).toMatchObject({ kind: 'go', delay: 0 });
      if (admitted.kind === 'go') admitted.rollBack();
    }
    expect(throttle.size).toBe(0);
  });

  test('are forgotten of an address that is forgiven, also where an account is known, and of no other', () => {
    const throttle = new Throttle();
    throttle.recordSuccess(from('a', 'home'), START);
    for (const attempt of [from('a'), from('a', 'home'), from('b'), from('2a')]) fail(throttle, attempt, every(0, 10));
    throttle.clearNetwork('a');
    for (const attempt of [from('a'), from('a', 'other'), from('a', 'home')]) {
      expect(throttle.check(attempt, START)).toEqual({ kind: 'go', delay: 0 });
    }
    expect(throttle.check(from('b'), START).kind).toBe('throttled');
    expect(throttle.check(from('2a'), START).kind).toBe('throttled');
    fail(throttle, from('a', 'stranger'), every(0, 10));
    expect(throttle.check(from('a', 'home'), START).kind).toBe('go');
    expect(throttle.check(from('a', 'stranger'), START).kind).toBe('throttled');
  });

  test('in the future, after the clock was set back, do not count', () => {
    const throttle = new Throttle();
    fail(throttle, from('a', 'x'), every(0, 50, 100 * 24 * HOUR));
    expect(throttle.check(from('a', 'x'), START)).toEqual({ kind: 'go', delay: 0 });
  });
});

describe('an account guessed at from many addresses', () => {
  function attacked(): Throttle {
    const throttle = new Throttle();
    for (let i = 0; i < 20; i += 1) expect(fail(throttle, from(`bot${i}`), every(SECOND, 5, i * 10 * SECOND))).toBe(5);
    return throttle;
  }

  test('is slow, and still open, to its owner elsewhere', () => {
    const throttle = attacked();
    const admission = throttle.check(from('home'), START + 10 * MINUTE);
    expect(admission).toMatchObject({ kind: 'go' });
    if (admission.kind === 'go') expect(admission.delay).toBeGreaterThan(0);
    if (admission.kind === 'go') expect(admission.delay).toBeLessThanOrEqual(4000);
  });

  test('is closed to those that guess', () => {
    const throttle = attacked();
    expect(throttle.check(from('bot3'), START + 10 * MINUTE)).toMatchObject({ kind: 'throttled' });
    expect(fail(throttle, from('new bot'), every(10 * SECOND, 100, 10 * MINUTE))).toBe(3);
  });

  test('slows nobody else, and only for a day', () => {
    const throttle = attacked();
    expect(throttle.check(from('home', 'you'), START + 10 * MINUTE)).toEqual({ kind: 'go', delay: 0 });
    expect(throttle.check(from('home'), START + 25 * HOUR)).toEqual({ kind: 'go', delay: 0 });
  });
});

describe('an account at an address where it was logged in to', () => {
  const home = from('home');
  const known = (throttle: Throttle): Throttle => {
    throttle.recordSuccess(home, START);
    return throttle;
  };

  test('stays open regardless of failures of others in its network, who stay throttled', () => {
    const throttle = known(new Throttle());
    fail(throttle, from('home', 'neighbour'), every(10 * SECOND, 50));
    expect(throttle.check(from('home', 'you'), START + HOUR)).toMatchObject({ kind: 'throttled' });
    expect(throttle.check(home, START + HOUR)).toEqual({ kind: 'go', delay: 0 });
  });

  test('is open and quick while others guess at it elsewhere, also when a device there has an old password', () => {
    const throttle = known(new Throttle());
    for (let i = 0; i < 50; i += 1) fail(throttle, from(`bot${i}`), every(SECOND, 3, i * 10 * SECOND));
    expect(fail(throttle, home, every(MINUTE, 10, 10 * MINUTE))).toBe(10);
    expect(throttle.check(home, START + HOUR)).toEqual({ kind: 'go', delay: 0 });
  });

  test('can be guessed at no more often than at another: ten a minute, fifty a day', () => {
    expect(fail(known(new Throttle()), home, every(0, 1000))).toBe(10);
    expect(fail(known(new Throttle()), home, every(MINUTE, 1439))).toBe(50);
  });

  test('is as everywhere after a month', () => {
    const throttle = known(new Throttle());
    const later = START + 30 * 24 * HOUR;
    fail(throttle, from('home', 'neighbour'), every(10 * SECOND, 50, 30 * 24 * HOUR));
    expect(throttle.check(home, later + HOUR)).toMatchObject({ kind: 'throttled' });
  });

  test('takes back what was counted before it was known', () => {
    const throttle = new Throttle();
    const side = every(0, 10).map((time) => throttle.admit(home, START + time));
    for (const one of side) {
      if (one.kind === 'go') one.rollBack();
      throttle.recordSuccess(home, START);
    }
    expect(throttle.size).toBe(0);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['not an address', 'not an address'],
])('the address %s is counted as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});

test('an account is counted under a short key of its own', () => {
  expect(accountKeyOf('me@box.test')).toMatch(/^[A-Za-z0-9+/]{16}$/);
  expect(accountKeyOf('x'.repeat(300))).toHaveLength(16);
  expect(accountKeyOf('you@box.test')).not.toBe(accountKeyOf('me@box.test'));
});

test('addresses without end stay within the bound, and the old ones go by themselves', () => {
  const entries = 1000;
  const throttle = new Throttle({ entries });
  for (let i = 0; i < 20 * entries; i += 1) {
    throttle.recordSuccess(from(`home ${i}`, `user${i}`), START + i);
    throttle.admit(from(`10.${i}`, `user${i}`), START + i);
    throttle.admit(from(`home ${i}`, `user${i}`), START + i);
    expect(throttle.size).toBeLessThanOrEqual(3 * entries);
  }
  expect(throttle.size).toBeGreaterThan((3 / 2) * entries);
  throttle.admit(from('late', 'late'), START + 48 * HOUR);
  expect(throttle.size).toBeLessThanOrEqual(2 + entries);
});
