import type { PlainKey } from '../message-types.ts';
import { LOCALE, listed, t } from '../translate.ts';
import type { CalendarEvent, EventTime } from './event.ts';
import { localTime } from './zones.ts';

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const NTH: Readonly<Record<string, PlainKey>> = {
  '1': 'repeat.first',
  '2': 'repeat.second',
  '3': 'repeat.third',
  '4': 'repeat.fourth',
  '-1': 'repeat.last',
};

/** The recurrence of an event in sentences; none for a single event. A rule that has no words here is not guessed. */
export function recurrenceWords({ rule, start, excluded, others }: CalendarEvent): string[] {
  const words = rule === undefined || start === undefined ? undefined : ruleWords(rule, start);
  return [
    ...(rule === undefined ? [] : [words === undefined ? t('repeat.other') : withEnd(words, rule)]),
    ...(excluded > 0 ? [t('repeat.excluded', { count: excluded })] : []),
    ...(others > 0 ? [t('repeat.others', { count: others })] : []),
  ];
}

type Rule = Readonly<Record<string, unknown>>;

function ruleWords({ freq, interval = 1, ...rest }: Rule, start: EventTime): string | undefined {
  const count = Number(interval);
  if (!Number.isSafeInteger(count) || count < 1) return undefined;
  const { count: _count, until: _until, wkst: _wkst, ...by } = rest;
  const days = listOf(by['byday']);
  const names = Object.keys(by).toSorted().join(' ');
  switch (freq) {
    case 'DAILY':
      return names === '' ? t('repeat.daily', { count }) : undefined;
    case 'WEEKLY':
      return names === '' || names === 'byday' ? weekly(count, days, start) : undefined;
    case 'MONTHLY':
      return monthly(count, names, by, start);
    case 'YEARLY':
      return isOwnDate(names, by, start) ? t('repeat.yearly', { count }) : undefined;
    default:
      return undefined;
  }
}

function weekly(count: number, days: readonly string[], start: EventTime): string | undefined {
  const chosen = days.length === 0 ? [WEEKDAYS[weekdayOf(start)] ?? ''] : days;
  const known = chosen.map((day) => WEEKDAYS.indexOf(day));
  if (known.includes(-1)) return undefined;
  // Weeks begin on Monday in the list.
  const sorted = [...new Set(known)].toSorted((a, b) => ((a + 6) % 7) - ((b + 6) % 7));
  return t('repeat.weekly', { count, days: listed(sorted.map(weekdayName)) });
}

function monthly(count: number, names: string, by: Rule, start: EventTime): string | undefined {
  if (isOwnDate(names, by, start)) return t('repeat.monthly', { count });
  const [, nth = '', day = ''] = /^\+?(-?\d)(\w\w)$/.exec(names === 'byday' ? String(by['byday']) : '') ?? [];
  const key = Object.hasOwn(NTH, nth) ? NTH[nth] : undefined;
  if (key === undefined || !WEEKDAYS.includes(day)) return undefined;
  return t('repeat.monthly-on', { count, nth: t(key), day: weekdayName(WEEKDAYS.indexOf(day)) });
}

/** True if the rule names no day, or the day and month of the start. */
function isOwnDate(names: string, by: Rule, start: EventTime): boolean {
  const at = fieldsOf(start);
  const day = by['bymonthday'] ?? at.getUTCDate();
  const month = by['bymonth'] ?? at.getUTCMonth() + 1;
  const plain = ['', 'bymonthday', 'bymonth', 'bymonth bymonthday'].includes(names);
  return plain && day === at.getUTCDate() && month === at.getUTCMonth() + 1;
}

function withEnd(words: string, { count, until }: Rule): string {
  if (typeof count === 'number') return t('repeat.times', { rule: words, count });
  const last = localTime(until);
  if (last === undefined) return words;
  const date = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'long', timeZone: 'UTC' }).format(last);
  return t('repeat.until', { rule: words, date });
}

const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : [];

/** Day and month of a time as people at the event know them; of an instant, as the reader does. */
function fieldsOf({ kind, at }: EventTime): Date {
  return new Date(kind === 'instant' ? at - new Date(at).getTimezoneOffset() * 60_000 : at);
}

const weekdayOf = (at: EventTime): number => fieldsOf(at).getUTCDay();

/** 0 is Sunday. The first of January 2023 was one. */
function weekdayName(day: number): string {
  return new Intl.DateTimeFormat(LOCALE, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2023, 0, 1 + day));
}
