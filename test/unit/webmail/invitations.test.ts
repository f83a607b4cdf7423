import { describe, expect, test } from 'vitest';
import {
  type CalendarComponent,
  MAX_CALENDAR_OCTETS,
  readCalendar,
} from '../../../src/webmail/client/calendar/calendar-object.ts';
import { type CalendarEvent, eventOf, isNewer } from '../../../src/webmail/client/calendar/event.ts';
import { recurrenceWords } from '../../../src/webmail/client/calendar/recurrence.ts';
import { invitationReply } from '../../../src/webmail/client/calendar/reply.ts';
import { zoneRule } from '../../../src/webmail/client/calendar/zones.ts';

const HEAD = 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\n';
/** As Outlook writes it. */
const BERLIN = `BEGIN:VTIMEZONE\r\nTZID:W. Europe Standard Time\r\nBEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nTZOFFSETFROM:+0200\r
TZOFFSETTO:+0100\r\nRRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\nBEGIN:DAYLIGHT\r\nDTSTART:16010101T020000\r
TZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nRRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n`;

const calendar = (lines: readonly string[], before = ''): string =>
  `${HEAD}${before}BEGIN:VEVENT\r\nUID:1@x.test\r\n${lines.map((line) => `${line}\r\n`).join('')}END:VEVENT\r\nEND:VCALENDAR\r\n`;

async function parsed(text: string): Promise<CalendarComponent> {
  const found = await readCalendar(text);
  if (found === undefined) throw new Error('not a calendar');
  return found;
}

async function event(lines: readonly string[], before = ''): Promise<CalendarEvent> {
  const found = eventOf(await parsed(calendar(lines, before)));
  if (found === undefined) throw new Error('no event');
  return found;
}

const instant = (iso: string) => ({ kind: 'instant', at: Date.parse(iso) });

describe('the time of an event', () => {
  test.each([
    ['in UTC', 'DTSTART:20261124T090000Z', instant('2026-11-24T09:00Z')],
    ['in a named zone, in winter', 'DTSTART;TZID=Europe/Berlin:20261124T090000', instant('2026-11-24T08:00Z')],
    ['in a named zone, in summer', 'DTSTART;TZID=Europe/Berlin:20260724T090000', instant('2026-07-24T07:00Z')],
    [
      'in a zone east of UTC by half an hour',
      'DTSTART;TZID=Asia/Kolkata:20260724T090000',
      instant('2026-07-24T03:30Z'),
    ],
    [
      'in a defined zone, in winter',
      'DTSTART;TZID=W. Europe Standard Time:20261124T090000',
      instant('2026-11-24T08:00Z'),
    ],
    [
      'in a defined zone, in January',
      'DTSTART;TZID=W. Europe Standard Time:20260110T090000',
      instant('2026-01-10T08:00Z'),
    ],
    [
      'in a defined zone, in summer',
      'DTSTART;TZID=W. Europe Standard Time:20260724T090000',
      instant('2026-07-24T07:00Z'),
    ],
    ['of a whole day', 'DTSTART;VALUE=DATE:20261124', { kind: 'day', at: Date.UTC(2026, 10, 24) }],
    ['without a zone', 'DTSTART:20261124T090000', { kind: 'local', at: Date.UTC(2026, 10, 24, 9), zone: '' }],
    [
      'in no known zone',
      'DTSTART;TZID=Mars:20261124T090000',
      { kind: 'local', at: Date.UTC(2026, 10, 24, 9), zone: 'Mars' },
    ],
    ['of no sense', 'DTSTART:soon', undefined],
  ])('%s', async (_, line, expected) => {
    expect((await event([line], BERLIN)).start).toEqual(expected);
  });

  test('has an end, or a duration', async () => {
    const start = 'DTSTART:20261124T090000Z';
    expect((await event([start, 'DTEND:20261124T100000Z'])).end).toEqual(instant('2026-11-24T10:00Z'));
    expect((await event([start, 'DURATION:P1DT1H30M'])).end).toEqual(instant('2026-11-25T10:30Z'));
    expect((await event([start, 'DURATION:long'])).end).toBeUndefined();
  });

  test('by a definition is that of the named zone, in each week of ten years', async () => {
    const own = await parsed(calendar([], BERLIN.replaceAll('W. Europe Standard Time', 'Own')));
    const [defined, named] = [zoneRule(own, 'Own'), zoneRule(own, 'Europe/Berlin')];
    const days = Array.from({ length: 520 }, (_, week) => Date.UTC(2020, 0, 1 + week * 7, 12));
    expect(days.map((day) => defined?.(day))).toEqual(days.map((day) => named?.(day)));
  });

  test('by a definition that is no "nth weekday, each year" is not computed', async () => {
    for (const rule of ['FREQ=SECONDLY', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'FREQ=YEARLY;BYMONTH=2']) {
      const zone = BERLIN.replaceAll(/RRULE:.*/g, `RRULE:${rule}`);
      const { start } = await event(['DTSTART;TZID=W. Europe Standard Time:20261124T090000'], zone);
      expect([rule, start?.kind]).toEqual([rule, 'local']);
    }
  });
});

describe('a recurring event in words', () => {
  const START = 'DTSTART;VALUE=DATE:20261124';
  test.each([
    ['FREQ=DAILY', 'Every day'],
    ['FREQ=DAILY;INTERVAL=3;COUNT=5', 'Every 3 days, 5 times.'],
    ['FREQ=WEEKLY', 'Every week on Tuesday'],
    ['FREQ=WEEKLY;BYDAY=WE,MO,SU;UNTIL=20270131', 'Every week on Monday, Wednesday, Sunday, until January 31, 2027.'],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=MO;BYDAY=TU', 'Every 2 weeks on Tuesday'],
    ['FREQ=MONTHLY;BYMONTHDAY=24', 'Every month'],
    ['FREQ=MONTHLY;BYDAY=4TU', 'Every month on the fourth Tuesday'],
    ['FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR', 'Every 3 months on the last Friday'],
    ['FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=24', 'Every year'],
  ])('%s', async (rule, words) => {
    expect(recurrenceWords(await event([START, `RRULE:${rule}`]))).toEqual([words]);
  });

  test.each([
    'FREQ=SECONDLY;COUNT=999999999',
    'FREQ=MONTHLY;BYMONTHDAY=31',
    'FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=WEEKLY;BYDAY=2MO',
    'FREQ=WEEKLY;BYHOUR=1,2,3',
  ])('that has no words is not guessed: %s', async (rule) => {
    const [words] = recurrenceWords(await event([START, `RRULE:${rule}`]));
    expect(words).toContain('cannot put into words');
  });

  test('says what is left out and what differs', async () => {
    const lines = [START, 'RRULE:FREQ=DAILY', 'EXDATE;VALUE=DATE:20261125,20261126', 'RDATE;VALUE=DATE:20270101'];
    expect(recurrenceWords(await event(lines))).toEqual([
      'Every day',
      'Except 2 occurrences.',
      '1 occurrence differs.',
    ]);
  });
});

describe('the answer to an invitation', () => {
  const WHO = { name: 'Anna "A" Berg', email: 'anna@acme.test' };
  const NOW = Date.UTC(2026, 10, 24, 9);
  const ORGANIZER = 'ORGANIZER;CN=Ada:mailto:ada@x.test';
  const unfolded = (text: string): string[] => text.replaceAll('\r\n ', '').split('\r\n');

  test('has the UID, the SEQUENCE and one attendee', async () => {
    const invited = await event([
      'SEQUENCE:3',
      'SUMMARY:Loom\\, again',
      ORGANIZER,
      'ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:anna@acme.test',
      'ATTENDEE:mailto:bert@acme.test',
    ]);
    expect(unfolded(await invitationReply(invited, WHO, 'ACCEPTED', NOW))).toEqual([
      'BEGIN:VCALENDAR',
      'PRODID:-//Mailstead//Web mail//EN',
      'VERSION:2.0',
      'METHOD:REPLY',
      'BEGIN:VEVENT',
      'DTSTAMP:20261124T090000Z',
      'UID:1@x.test',
      'SEQUENCE:3',
      'SUMMARY:Loom\\, again',
      'ORGANIZER:mailto:ada@x.test',
      "ATTENDEE;CN=Anna 'A' Berg;PARTSTAT=ACCEPTED:mailto:anna@acme.test",
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
  });

  test('to one occurrence names it, with the definition of its zone', async () => {
    const lines = ['RECURRENCE-ID;TZID=W. Europe Standard Time:20261124T090000', ORGANIZER];
    const text = unfolded(await invitationReply(await event(lines, BERLIN), WHO, 'DECLINED', NOW));
    expect(text).toContain('RECURRENCE-ID;TZID=W. Europe Standard Time:20261124T090000');
    expect(text).toContain('RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10');
  });

  test('has no line that a stranger wrote', async () => {
    const lines = [
      `SUMMARY:x\\nATTENDEE:mailto:evil@x.test\\r\\nEND:VEVENT`,
      'ORGANIZER:mailto:ada@x.test\rMETHOD:PUBLISH',
    ];
    const text = unfolded(await invitationReply(await event(lines), WHO, 'TENTATIVE', NOW));
    expect(text.filter((line) => /^(?:ATTENDEE|METHOD)/.test(line))).toHaveLength(2);
    expect(text.filter((line) => line === 'END:VEVENT')).toHaveLength(1);
    expect(text.join('\n')).not.toContain('\r');
  });
});

describe('a newer message about an event', () => {
  const version = (method: string, sequence: number, stamp: string, more: readonly string[] = []) =>
    event([`SEQUENCE:${sequence}`, `DTSTAMP:${stamp}`, ...more]).then((one) => ({ ...one, method }));

  test('has a higher SEQUENCE, or a later DTSTAMP; an answer is none', async () => {
    const first = await version('REQUEST', 0, '20261101T000000Z');
    expect(isNewer(await version('REQUEST', 1, '20261101T000000Z'), first)).toBe(true);
    expect(isNewer(await version('CANCEL', 0, '20261102T000000Z'), first)).toBe(true);
    expect(isNewer(await version('REPLY', 1, '20261102T000000Z'), first)).toBe(false);
    expect(isNewer(first, first)).toBe(false);
    expect(isNewer({ ...first, uid: 'other', sequence: 9 }, first)).toBe(false);
  });

  test('about one occurrence leaves the series as it is', async () => {
    const first = await version('REQUEST', 0, '20261101T000000Z');
    const one = await version('CANCEL', 1, '20261102T000000Z', ['RECURRENCE-ID:20261124T090000Z']);
    expect(isNewer(one, first)).toBe(false);
    expect(isNewer({ ...one, sequence: 2 }, one)).toBe(true);
  });
});

describe('a hostile calendar', () => {
  test.each([
    ['of nothing', ''],
    ['of other text', 'Hello\r\nWorld'],
    ['without an end', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT'],
    ['that begins with a property', 'UID:1\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR'],
    ['larger than the limit', calendar(['SUMMARY:x'.padEnd(MAX_CALENDAR_OCTETS, 'x')])],
    ['with more lines than the limit', calendar(Array.from({ length: 6_000 }, () => 'SUMMARY:x'))],
    ['nested without an end', 'BEGIN:X\r\n'.repeat(20_000)],
    ['with a rule that the library refuses', calendar(['RRULE:FREQ=SOMETIMES'])],
  ])('%s is none', async (_, text) => {
    expect(await readCalendar(text)).toBeUndefined();
  });

  test('nested deeply is read without what is nested', async () => {
    const deep = 'BEGIN:X\r\n'.repeat(2_000) + 'END:X\r\n'.repeat(2_000);
    expect((await event([`SUMMARY:Top\r\n${deep.trim()}`])).summary).toBe('Top');
  });

  test('with names of the language itself changes no object', async () => {
    const lines = [
      '__proto__;x=1:2',
      'ATTENDEE;__PROTO__=a;CONSTRUCTOR=b:mailto:a@x.test',
      'SUMMARY;VALUE=__proto__:Plain',
    ];
    const { attendees, summary } = await event(lines);
    expect([attendees, summary]).toEqual([[{ name: '', email: 'a@x.test', status: '' }], 'Plain']);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  test('with a line of 100,000 parameters is read without it', async () => {
    const long = `SUMMARY${';a=b'.repeat(50_000)}:x`;
    expect((await event([long, 'LOCATION:Here'])).location).toBe('Here');
  });

  test('shows no marks that turn a text around, and no address that is none', async () => {
    const { summary, organizer } = await event(['SUMMARY:pay\u202Etxt.exe', 'ORGANIZER:javascript:alert(1)']);
    expect([summary, organizer]).toEqual(['paytxt.exe', undefined]);
  });
});
