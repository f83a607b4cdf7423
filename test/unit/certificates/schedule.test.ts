import { expect, test } from 'vitest';
import { lettersDue, pauseAfter, renewalTime, timeWithin } from '../../../src/certificates/schedule.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const certificate = { notBefore: 0, notAfter: 90 * DAY };

test.each([
  [1, undefined, 5 * MINUTE],
  [2, undefined, 15 * MINUTE],
  [6, undefined, 12 * 60 * MINUTE],
  [1_000, undefined, 12 * 60 * MINUTE],
  [1, DAY, DAY],
])('after %i failures, with %s ms demanded, the next order is at least %i ms later', (failures, demanded, least) => {
  expect(pauseAfter(failures, demanded, 0)).toBe(least);
  expect(pauseAfter(failures, demanded, 0.999)).toBeGreaterThanOrEqual(least);
});

test('a certificate of 90 days is renewed 30 days before its end, at most five days earlier', () => {
  expect(renewalTime(certificate, 0)).toBe(60 * DAY);
  expect(renewalTime(certificate, 0.999)).toBeGreaterThan(55 * DAY);
  expect(renewalTime({ notBefore: 0, notAfter: 6 * DAY }, 0)).toBe(4 * DAY);
});

test('a window of the authority that has passed means now', () => {
  expect(timeWithin({ start: 100, end: 200 }, 0.5, 0)).toBe(150);
  expect(timeWithin({ start: 100, end: 200 }, 0.5, 1_000)).toBe(1_000);
});

test.each([
  ['one failure', { failures: 1, since: 0 }, 89 * DAY, 0],
  ['failures while 26 days are left', { failures: 9, since: 60 * DAY }, 64 * DAY, 0],
  ['25 days left', { failures: 9, since: 60 * DAY }, 65 * DAY, 1],
  ['8 days left', { failures: 9, since: 60 * DAY }, 82 * DAY, 2],
])('letters after %s', (_, failing, now, letters) => {
  expect(lettersDue(certificate, failing, now)).toBe(letters);
});

test('a first certificate that is a day late causes a letter', () => {
  expect(lettersDue(undefined, { failures: 5, since: 0 }, DAY - 1)).toBe(0);
  expect(lettersDue(undefined, { failures: 5, since: 0 }, DAY)).toBe(1);
});
