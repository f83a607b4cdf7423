import { describe, expect, test } from 'vitest';
import { withoutCalendarCopy } from '../../../src/webmail/client/calendar-part.ts';
import type { MessagePart } from '../../../src/webmail/client/jmap-types.ts';

const part = (type: string, size: number): MessagePart => ({
  partId: `${type} ${size}`,
  blobId: `${type} ${size}`,
  size,
  name: null,
  type,
  charset: null,
  cid: null,
  disposition: null,
});
const listed = (...parts: MessagePart[]) => withoutCalendarCopy(parts).map(({ type, size }) => `${type} ${size}`);

describe('the files of a message with a calendar', () => {
  test('a calendar that was sent twice is listed once, in either order', () => {
    const [calendar, copy, photo] = [part('text/calendar', 9), part('application/ics', 9), part('image/png', 9)];
    expect(listed(calendar, copy, photo)).toEqual(['text/calendar 9', 'image/png 9']);
    expect(listed(copy, photo, calendar)).toEqual(['image/png 9', 'text/calendar 9']);
  });

  test('a calendar file of another size is another file', () => {
    const parts = [part('text/calendar', 9), part('application/ics', 10)];
    expect(listed(...parts)).toEqual(['text/calendar 9', 'application/ics 10']);
  });

  test('a calendar that was sent only as a file is listed', () => {
    expect(listed(part('application/ics', 9))).toEqual(['application/ics 9']);
  });

  test('each further file of the same size stays', () => {
    const parts = [part('text/calendar', 9), part('application/ics', 9), part('application/ics', 9)];
    expect(listed(...parts)).toEqual(['text/calendar 9', 'application/ics 9']);
  });
});
