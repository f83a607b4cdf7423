import { expect, test } from 'vitest';
import { fileSize, fullTime } from '../../../src/webmail/client/format.ts';

test.each([
  [1, '1 byte'],
  [406, '406 bytes'],
  [1400, '1.4 kB'],
  [2_500_000, '2.5 MB'],
])('the size of %i octets is in words of the language', (octets, text) => {
  expect(fileSize(octets)).toBe(text);
});

test('a time in full has the day, the minute and the zone, and no seconds', () => {
  const text = fullTime('2026-11-29T22:55:26Z');
  expect(text).toMatch(/November (?:29|30), 2026/);
  expect(text).toMatch(/\d{1,2}:\d{2} [AP]M \S+$/);
  expect(text).not.toMatch(/:26/);
});
