import { expect, test } from 'vitest';
import { labelName, labelOf, labelsOf } from '../../../src/webmail/client/label-names.ts';
import { laterTimes, snoozeTimes } from '../../../src/webmail/client/later-times.ts';

test.each([
  ['To Do', 'to-do'],
  ['  invoices ', 'invoices'],
  ['a/b', undefined],
  ['año', undefined],
  ['', undefined],
  ['$seen', undefined],
  ['(x)', undefined],
  ['a'.repeat(101), undefined],
])('the label %j is stored as %j', (typed, keyword) => {
  expect(labelOf(typed)).toBe(keyword);
});

test('flags and the marks of programs are no labels', () => {
  const keywords = { $seen: true, $flagged: true, nonjunk: true, $label1: true, work: true, off: false };
  expect(labelsOf([{ keywords }, { keywords: { work: true, art: true } }])).toEqual(['$label1', 'art', 'work']);
  expect(labelName('$label1')).toBe('label1');
});

test.each([
  // A Wednesday at noon, and one in the evening; a Monday gives the next one.
  [new Date(2026, 10, 25, 12), ['25 18', '26 8', '30 8']],
  [new Date(2026, 10, 25, 17, 30), ['26 8', '30 8']],
  [new Date(2026, 10, 23, 7), ['23 18', '24 8', '30 8']],
])('times to send later, from %s', (now, expected) => {
  expect(laterTimes(now).map(({ at }) => `${at.getDate()} ${at.getHours()}`)).toEqual(expected);
});

test.each([
  // A Wednesday at half past twelve, and one in the late evening; a Sunday gives the next day.
  [new Date(2026, 10, 25, 12, 30), ['25 15', '26 8', '30 8']],
  [new Date(2026, 10, 25, 21, 30), ['26 8', '30 8']],
  [new Date(2026, 10, 29, 9), ['29 12', '30 8', '30 8']],
])('times until which to snooze, from %s', (now, expected) => {
  expect(snoozeTimes(now).map(({ at }) => `${at.getDate()} ${at.getHours()}`)).toEqual(expected);
});
