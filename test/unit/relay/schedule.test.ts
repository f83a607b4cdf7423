import { describe, expect, test } from 'vitest';
import { BOUNCE_LIFETIME, jitter, LIFETIME, MAX_RETRY_DELAY, nextAttempt } from '../../../mail/relay/schedule.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('the steps', () => {
  test.each([
    [0, 0],
    [1, 5],
    [2, 15],
    [3, 30],
    [4, 60],
    [5, 120],
    [6, 240],
    [7, 240],
    [30, 240],
  ])('after %i attempts the next comes in %i minutes', (attempts, wait) => {
    expect(nextAttempt({ attempts, since: 0, lifetime: LIFETIME }, 1000, 1)).toBe(1000 + wait * MINUTE);
  });

  test.each([
    [0, 0.9],
    [0.5, 1],
    [0.999_999, 1.1],
  ])('a random %d makes a factor of about %d', (random, factor) => {
    expect(jitter(() => random)).toBeCloseTo(factor, 4);
  });

  test('no wait is longer than the longest', () => {
    for (let attempts = 0; attempts < 40; attempts += 1)
      expect(nextAttempt({ attempts, since: 0, lifetime: LIFETIME }, 0, 1.1)).toBeLessThanOrEqual(MAX_RETRY_DELAY);
  });
});

describe('giving up', () => {
  test.each([
    // attempts, age, lifetime, given up
    [8, 5 * DAY, LIFETIME, true],
    [35, 6 * DAY, LIFETIME, true],
    [35, 5 * DAY - 1, LIFETIME, false],
    [7, 5 * DAY, LIFETIME, false], // a clock that jumped ahead
    [1, 4000 * DAY, LIFETIME, false],
    [100, -3 * DAY, LIFETIME, false], // a clock that jumped back
    [8, DAY, BOUNCE_LIFETIME, true],
    [8, DAY - 1, BOUNCE_LIFETIME, false],
    [2, 2 * DAY, BOUNCE_LIFETIME, false],
  ])('%i attempts in %i ms, lifetime %i: %s', (attempts, age, lifetime, over) => {
    expect(nextAttempt({ attempts, since: 10 * DAY, lifetime }, 10 * DAY + age, 1) === undefined).toBe(over);
  });

  test('a host that is down for good is tried about 35 times in five days', () => {
    let now = 0;
    let attempts = 0;
    for (;;) {
      const next = nextAttempt({ attempts, since: 0, lifetime: LIFETIME }, now, 1);
      if (next === undefined) break;
      now = next;
      attempts += 1;
    }
    expect(attempts).toBeGreaterThanOrEqual(33);
    expect(attempts).toBeLessThanOrEqual(37);
    expect(now).toBeGreaterThanOrEqual(LIFETIME);
    expect(now).toBeLessThan(LIFETIME + MAX_RETRY_DELAY);
  });
});
