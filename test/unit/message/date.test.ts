import { expect, test } from 'vitest';
import { formatDate, parseDate } from '../../../mail/message/date.ts';

const TABLE: [value: string, iso: string | undefined, day?: string][] = [
  ['Fri, 20 Nov 2026 09:30:00 +0000', '2026-11-20T09:30:00Z'],
  ['20 Nov 2026 09:30 +0100', '2026-11-20T08:30:00Z'],
  ['Fri, 20 Nov 2026 23:30:00 -0500', '2026-11-21T04:30:00Z', '2026-11-20'],
  ['Sat, 21 Nov 2026 00:30:00 +0900', '2026-11-20T15:30:00Z', '2026-11-21'],
  ['Fri, 20 Nov 2026 09:30:00 GMT', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 EST', '2026-11-20T14:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 pdt', '2026-11-20T16:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 Z', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 A', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 XYZ', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 -0000', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 +01:00', '2026-11-20T08:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 GMT+0100', '2026-11-20T08:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 2026 09:30:00 +0000 (UTC)', '2026-11-20T09:30:00Z'],
  ['Fri,\r\n 20 (the (20th)) Nov 2026\t09 : 30 : 00 +0000'.replace(/ : /g, ':'), '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 26 09:30:00 +0000', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 98 09:30:00 +0000', '1998-11-20T09:30:00Z'],
  ['Fri, 20 Nov 126 09:30:00 +0000', '2026-11-20T09:30:00Z'],
  ['Friday, 20-Nov-26 09:30:00 GMT', '2026-11-20T09:30:00Z'],
  ['Fri, 20 November 2026 09:30:00 +0000', '2026-11-20T09:30:00Z'],
  ['Fri, 20 Nov 2026 9:30:00 PM +0000', '2026-11-20T21:30:00Z'],
  ['Fri, 20 Nov 2026', '2026-11-20T00:00:00Z'],
  ['Fri Nov 20 09:30:00 2026', '2026-11-20T09:30:00Z'],
  ['Fri Nov 20 09:30:00 EST 2026', '2026-11-20T14:30:00Z'],
  ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00Z'],
  ['2026-11-20 09:30:00 +0100', '2026-11-20T08:30:00Z'],
  ['Fri, 20 Nov 2026 23:59:60 +0000', '2026-11-21T00:00:00Z', '2026-11-20'],
  ['Thu, 1 Jan 1970 00:00:00 +0000', '1970-01-01T00:00:00.001Z'],
  ['Mon, 1 Jan 1900 00:00:00 +0000', '1970-01-01T00:00:00.001Z'],
  ['', undefined],
  ['yesterday', undefined],
  ['Fri, 32 Nov 2026 09:30:00 +0000', undefined],
  ['Fri, 20 Foo 2026 09:30:00 +0000', undefined],
  ['Fri, 20 Nov 2026 29:30:00 +0000', undefined],
  ['x'.repeat(100_000), undefined],
];

test.each(TABLE)('%j', (value, iso, day) => {
  const found = parseDate(value);
  expect(found?.at).toBe(iso === undefined ? undefined : Date.parse(iso));
  if (iso !== undefined) expect(found?.day).toBe(Date.parse(day ?? iso.slice(0, 10)) / 86_400_000);
});

test('what is written is read', () => {
  const at = Date.UTC(2026, 0, 5, 7, 8, 9);
  expect(formatDate(at)).toBe('Mon, 05 Jan 2026 07:08:09 +0000');
  expect(parseDate(formatDate(at))?.at).toBe(at);
});
