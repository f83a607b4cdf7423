import { expect, test } from 'vitest';
import { SweepSchedule } from '../../../mail/store/search/sweep-schedule.ts';

const HOUR = 3_600_000;

test('the first sweep is due at the start, so that restarts cannot postpone it', () => {
  const schedule = new SweepSchedule(5_000);
  expect(schedule.waitMs(5_000)).toBe(0);
  expect(schedule.begin(5_000)).toBe(true);
  expect(schedule.begin(5_001)).toBe(false);
  schedule.end(5_010, true);
  expect(schedule.waitMs(5_010)).toBeUndefined();
  expect(schedule.begin(6_000)).toBe(false);
});

test('a purge makes a sweep due at once, one while a sweep runs another one, and a long sweep rests', () => {
  const schedule = new SweepSchedule(0);
  schedule.begin(0);
  schedule.end(10, true);
  schedule.request();
  // Nine times the ten milliseconds.
  expect(schedule.waitMs(50)).toBe(50);
  expect(schedule.begin(99)).toBe(false);
  expect(schedule.begin(100)).toBe(true);
  schedule.request();
  expect(schedule.waitMs(200)).toBeUndefined();
  schedule.end(1_100, true);
  expect(schedule.waitMs(1_100)).toBe(9_000);
  expect(schedule.begin(10_100)).toBe(true);
});

test('a sweep that was not complete is repeated after a minute', () => {
  const schedule = new SweepSchedule(0);
  schedule.begin(0);
  schedule.end(10, false);
  expect(schedule.waitMs(10)).toBe(60_000);
  expect(schedule.begin(60_009)).toBe(false);
  expect(schedule.begin(60_010)).toBe(true);
});

test('no rest is longer than an hour, and without purges of this server there is one sweep an hour', () => {
  const schedule = new SweepSchedule(0);
  schedule.begin(0);
  schedule.end(HOUR, true);
  schedule.request();
  expect(schedule.waitMs(HOUR)).toBe(HOUR);
  expect(schedule.begin(2 * HOUR)).toBe(true);
  schedule.end(2 * HOUR + 1, true);
  expect(schedule.waitMs(2 * HOUR + 1)).toBeUndefined();
  expect(schedule.begin(3 * HOUR)).toBe(false);
  expect(schedule.begin(3 * HOUR + 1)).toBe(true);
});

test('the end of a sweep that did not begin, as of a thread that failed without one, changes nothing', () => {
  const schedule = new SweepSchedule(0);
  schedule.end(5, false);
  expect(schedule.waitMs(5)).toBe(0);
});
