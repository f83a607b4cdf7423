import { describe, expect, test } from 'vitest';
import {
  KeyedTokenBucket,
  perHour,
  perMinute,
  retryAfterSeconds,
  TokenBucket,
} from '../../../mail/limits/token-bucket.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const taken = (bucket: TokenBucket, times: number, now: number): number =>
  Array.from({ length: times }, () => bucket.take(now)).filter((wait) => wait === 0).length;

describe('a bucket that is refilled at intervals', () => {
  test('gives its tokens back a minute after the first was taken, and says when', () => {
    const bucket = new TokenBucket(perMinute(10));
    expect(taken(bucket, 4, START)).toBe(4);
    expect(taken(bucket, 10, START + 20_000)).toBe(6);
    expect(bucket.wait(START + 20_000)).toBe(40_000);
    expect(taken(bucket, 20, START + MINUTE - 1)).toBe(0);
    expect(taken(bucket, 20, START + MINUTE)).toBe(10);
  });

  test('begins the interval with the first use, not with the first look', () => {
    const bucket = new TokenBucket(perMinute(1));
    expect(bucket.wait(START)).toBe(0);
    bucket.spend(1, START + 30_000);
    expect(bucket.wait(START + MINUTE)).toBe(30_000);
  });

  test('notes what was used beyond it, and owes nothing of that after', () => {
    const bucket = new TokenBucket(perMinute(1000));
    bucket.spend(50_000, START);
    expect(bucket.wait(START + 1)).toBe(MINUTE - 1);
    expect(taken(bucket, 2000, START + MINUTE)).toBe(1000);
  });

  test('is full again where the clock was set back', () => {
    const bucket = new TokenBucket(perHour(5));
    expect(taken(bucket, 10, START + 10 * 60 * MINUTE)).toBe(5);
    expect(taken(bucket, 10, START)).toBe(5);
  });
});

describe('a bucket that is refilled continuously', () => {
  const options = { capacity: 200, periodMs: 2_000, refill: 'continuous' } as const;

  test('allows a burst, then its rate', () => {
    const bucket = new TokenBucket(options);
    expect(taken(bucket, 600, 0)).toBe(200);
    expect(bucket.wait(0)).toBe(10);
    expect(taken(bucket, 200, 1_000)).toBe(100);
    expect(taken(bucket, 400, 3_600_000)).toBe(200);
  });

  test('never gives more than its rate, whatever the rhythm', () => {
    for (const step of [1, 3, 7, 10, 99]) {
      const bucket = new TokenBucket(options);
      let all = 0;
      for (let now = 0; now < 60_000; now += step) all += taken(bucket, 5, now);
      expect(all).toBeLessThanOrEqual(200 + 6_000);
    }
  });
});

describe('buckets by key', () => {
  test('do not touch one another', () => {
    const buckets = new KeyedTokenBucket(perMinute(1));
    expect([buckets.take('a', START), buckets.take('b', START), buckets.take('a', START)]).toEqual([0, 0, MINUTE]);
    expect([buckets.wait('a', START), buckets.wait('c', START), buckets.size]).toEqual([MINUTE, 0, 2]);
  });

  test('are bounded in memory, however many come; one that is in use stays', () => {
    const buckets = new KeyedTokenBucket(perMinute(10));
    for (let i = 0; i < 300_000; i++) {
      buckets.take(`2001:db8:${(i >> 16).toString(16)}:${(i & 65535).toString(16)}`, START);
      if (i % 10_000 === 0) buckets.take('abuser', START);
    }
    expect(buckets.size).toBeLessThanOrEqual(50_000);
    expect(buckets.wait('abuser', START)).toBe(MINUTE);
  });
});

test.each([
  [0, 0],
  [1, 1],
  [1000, 1],
  [1001, 2],
])('a wait of %d ms is a Retry-After of %d', (ms, seconds) => expect(retryAfterSeconds(ms)).toBe(seconds));
