import { LOCALE, t } from '../translate.ts';
import type { EventTime } from './event.ts';

const DATE = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
const DAY_MS = 86_400_000;
/** Ends later than this are left out: the formatter takes no other times. */
const MAX_MS = 8.64e15;

/** When an event takes place: in the reader's zone, with its name, or as days. */
export function eventTimes(start: EventTime, end: EventTime | undefined): string {
  const until = end?.kind === start.kind && end.at > start.at && end.at <= MAX_MS ? end.at : start.at;
  switch (start.kind) {
    case 'day':
      // The end of whole days is the day after. RFC 5545 3.6.1.
      return range({ ...DATE, timeZone: 'UTC' }, start.at, Math.max(start.at, until - DAY_MS));
    case 'instant':
      return range({ ...DATE, ...CLOCK, timeZoneName: 'short' }, start.at, until);
    case 'local': {
      const time = range({ ...DATE, ...CLOCK, timeZone: 'UTC' }, start.at, until);
      return start.zone === '' ? t('event.floating', { time }) : t('event.unknown-zone', { time, zone: start.zone });
    }
  }
}

function range(options: Intl.DateTimeFormatOptions, start: number, end: number): string {
  const format = new Intl.DateTimeFormat(LOCALE, options);
  return end > start ? format.formatRange(start, end) : format.format(start);
}

/** The time of one occurrence. */
export const eventTime = (at: EventTime): string => eventTimes(at, undefined);
