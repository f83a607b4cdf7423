import { type CalendarComponent, componentsOf, propertiesOf, propertyValue } from './calendar-object.ts';

/**
 * A local time: ms of the same fields in UTC. Turns one into an instant (ms since 1970).
 */
export type ZoneRule = (local: number) => number;

const MINUTE_MS = 60_000;
const MAX_RDATES = 200;

/**
 * The rule of a time zone that a calendar names: by the zones of the browser (`Europe/Berlin`), else by the definition in the
 * calendar. Undefined if neither knows it. A definition is computed for one year, never expanded.
 */
export function zoneRule(calendar: CalendarComponent, name: string): ZoneRule | undefined {
  return namedZone(name.replace(/^\//, '')) ?? definedZone(calendar, name);
}

function namedZone(name: string): ZoneRule | undefined {
  // Without a slash, only UTC: `EST` and the like differ from what programs mean by them.
  if (!/^(?:UTC|[A-Z][\w+-]{1,30}\/[\w+/-]{1,40})$/i.test(name)) return undefined;
  try {
    const fields = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn-hc-h23', { ...FIELDS, timeZone: name });
    return (local) => local - offsetAt(fields, local - offsetAt(fields, local));
  } catch {
    return undefined;
  }
}

const FIELDS = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;

/** Ms that a zone is ahead of UTC at an instant. */
function offsetAt(fields: Intl.DateTimeFormat, at: number): number {
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of fields.formatToParts(at)) part[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** Standard or daylight saving time of a definition. RFC 5545 3.6.5. */
interface Observance {
  begin: number;
  dates: readonly number[];
  yearly: YearlyRule | undefined;
  offset: number;
}

interface YearlyRule {
  month: number;
  /** 0 is Sunday. */
  weekday: number;
  /** 1 to 5, or -1 to -5 from the end of the month. */
  nth: number;
  until: number;
}

function definedZone(calendar: CalendarComponent, name: string): ZoneRule | undefined {
  const zone = componentsOf(calendar, 'vtimezone').find((one) => propertyValue(one, 'tzid') === name);
  if (zone === undefined) return undefined;
  const parts = [...componentsOf(zone, 'standard'), ...componentsOf(zone, 'daylight')].slice(0, 50);
  const observances = parts.map(observanceOf);
  const known = observances.filter((one) => one !== undefined);
  const [first] = known;
  if (first === undefined || known.length < observances.length) return undefined;
  return (local) => local - newestAt(known, local, first).offset;
}

/** The observance that began last before a local time. */
function newestAt(observances: readonly Observance[], local: number, first: Observance): Observance {
  let [found, since] = [first, -Infinity];
  for (const one of observances) {
    const at = onsetBefore(one, local);
    if (at > since) [found, since] = [one, at];
  }
  return found;
}

function onsetBefore({ begin, dates, yearly }: Observance, local: number): number {
  const year = new Date(local).getUTCFullYear();
  const recurring = yearly === undefined ? [] : [year, year - 1].map((one) => yearlyOnset(yearly, one, begin));
  const passed = [begin, ...dates, ...recurring].filter((at) => at >= begin && at <= local);
  return Math.max(-Infinity, ...passed);
}

function yearlyOnset({ month, weekday, nth, until }: YearlyRule, year: number, begin: number): number {
  const time = begin - Math.floor(begin / DAY_MS) * DAY_MS;
  const edge = new Date(Date.UTC(year, nth > 0 ? month - 1 : month, nth > 0 ? 1 : 0));
  const ahead = nth > 0 ? (weekday - edge.getUTCDay() + 7) % 7 : -((edge.getUTCDay() - weekday + 7) % 7);
  const at = edge.getTime() + (ahead + (nth > 0 ? nth - 1 : nth + 1) * 7) * DAY_MS + time;
  return at <= until ? at : -Infinity;
}

const DAY_MS = 24 * 60 * MINUTE_MS;
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** Undefined for rules other than "the nth weekday of a month, each year". */
function observanceOf(component: CalendarComponent): Observance | undefined {
  const begin = localTime(propertyValue(component, 'dtstart'));
  const offset = offsetOf(propertyValue(component, 'tzoffsetto'));
  const rules = propertiesOf(component, 'rrule').map(([, , , rule]) => yearlyRule(rule));
  if (begin === undefined || offset === undefined || rules.length > 1 || (rules.length === 1 && rules[0] === undefined))
    return undefined;
  const dates = propertiesOf(component, 'rdate').flatMap(([, , , ...values]) => values);
  const known = dates.slice(0, MAX_RDATES).flatMap((one) => localTime(one) ?? []);
  return { begin, dates: known, yearly: rules[0], offset };
}

function yearlyRule(rule: unknown): YearlyRule | undefined {
  const { freq, interval, bymonth, byday, until, ...others } = (rule ?? {}) as Record<string, unknown>;
  const [, nth, day] = (typeof byday === 'string' && /^([+-]?[1-5])(SU|MO|TU|WE|TH|FR|SA)$/.exec(byday)) || [];
  const isPlain = freq === 'YEARLY' && (interval ?? 1) === 1 && Object.keys(others).every((one) => one === 'wkst');
  if (!isPlain || day === undefined || typeof bymonth !== 'number') return undefined;
  // In UTC, so up to a day off: rules end at an onset, or long after the last one.
  const end = until === undefined ? Infinity : localTime(until);
  if (end === undefined) return undefined;
  return { month: bymonth, weekday: WEEKDAYS.indexOf(day), nth: Number(nth), until: end + DAY_MS };
}

/** Ms of the fields of a jCal date or time; undefined if it is none. RFC 7265 3.6. */
export function localTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const fields = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d))?Z?$/.exec(value);
  if (fields === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = fields
    .slice(1)
    .map((one) => Number(one ?? 0));
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  return at.setUTCHours(hour, minute, second);
}

/** Ms of an offset such as `+01:00`. */
function offsetOf(value: string): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)(?::\d\d)?$/.exec(value) ?? [];
  if (sign === undefined) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}
