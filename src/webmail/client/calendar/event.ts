import { withoutMarks } from '../format.ts';
import {
  type CalendarComponent,
  type CalendarProperty,
  componentsOf,
  parameterOf,
  propertiesOf,
  propertyOf,
  propertyText,
  propertyValue,
} from './calendar-object.ts';
import { localTime, zoneRule } from './zones.ts';

/** A time of an event. `local` ones are ms of the same fields in UTC: times without a zone, or with an unknown one. */
export type EventTime =
  { kind: 'instant'; at: number } | { kind: 'day'; at: number } | { kind: 'local'; at: number; zone: string };

/** An organizer or attendee. */
export interface EventPerson {
  name: string;
  email: string;
  /** PARTSTAT in upper case. RFC 5545 3.2.12. */
  status: string;
}

/** An event and what a message says about it. RFC 5546 3.2. */
export interface CalendarEvent {
  /** METHOD in upper case, such as REQUEST. */
  method: string;
  uid: string;
  sequence: number;
  /** DTSTAMP in ms. */
  stamp: number;
  summary: string;
  location: string;
  organizer: EventPerson | undefined;
  attendees: readonly EventPerson[];
  start: EventTime | undefined;
  end: EventTime | undefined;
  /** The RRULE as jCal has it. */
  rule: Readonly<Record<string, unknown>> | undefined;
  /** Set if the message is about one occurrence of a recurring event. */
  occurrence: EventTime | undefined;
  cancelled: boolean;
  /** Occurrences that do not take place. */
  excluded: number;
  /** Occurrences with times or facts of their own, and additional ones. */
  others: number;
  /** The object that a reply is made of. */
  source: { calendar: CalendarComponent; components: readonly CalendarComponent[] };
}

const MAX_COMPONENTS = 50;
const MAX_ATTENDEES = 1_000;
const ADDRESS = /^mailto:([^\s@<>"(),;:]{1,64}@[^\s@<>"(),;:]{1,255})$/iu;

/** Reads the event of a calendar: the recurring one, or its first occurrence. Others in it are counted. */
export function eventOf(calendar: CalendarComponent): CalendarEvent | undefined {
  const all = componentsOf(calendar, 'vevent').slice(0, MAX_COMPONENTS);
  const main = all.find((one) => propertyOf(one, 'recurrence-id') === undefined) ?? all[0];
  if (main === undefined) return undefined;
  const same = all.filter((one) => propertyValue(one, 'uid') === propertyValue(main, 'uid'));
  const isSeries = propertyOf(main, 'recurrence-id') === undefined;
  const rule = propertyOf(main, 'rrule')?.[3];
  return {
    ...factsOf(calendar, main),
    ...timesOf(calendar, main),
    rule: typeof rule === 'object' && rule !== null ? (rule as Record<string, unknown>) : undefined,
    excluded: valuesOf(main, 'exdate'),
    others: same.length - 1 + valuesOf(main, 'rdate'),
    source: { calendar, components: isSeries ? [main] : same },
  };
}

function factsOf(calendar: CalendarComponent, event: CalendarComponent) {
  const method = propertyValue(calendar, 'method').toUpperCase();
  const sequence = Number(propertyValue(event, 'sequence'));
  const organizer = propertyOf(event, 'organizer');
  return {
    method,
    uid: propertyValue(event, 'uid'),
    sequence: Number.isSafeInteger(sequence) && sequence > 0 ? sequence : 0,
    stamp: localTime(propertyValue(event, 'dtstamp')) ?? 0,
    summary: propertyText(event, 'summary'),
    location: propertyText(event, 'location'),
    organizer: organizer === undefined ? undefined : personOf(organizer),
    attendees: propertiesOf(event, 'attendee')
      .slice(0, MAX_ATTENDEES)
      .flatMap((one) => personOf(one) ?? []),
    cancelled: method === 'CANCEL' || propertyValue(event, 'status').toUpperCase() === 'CANCELLED',
  };
}

function personOf(property: CalendarProperty): EventPerson | undefined {
  const [, email] = ADDRESS.exec(String(property[3])) ?? [];
  if (email === undefined) return undefined;
  const name = withoutMarks(parameterOf(property, 'cn')).replaceAll(/\s+/g, ' ').trim().slice(0, 100);
  return { name, email, status: parameterOf(property, 'partstat').toUpperCase() };
}

const valuesOf = (event: CalendarComponent, name: string): number =>
  propertiesOf(event, name).reduce((sum, [, , , ...values]) => sum + values.length, 0);

function timesOf(calendar: CalendarComponent, event: CalendarComponent) {
  const time = (name: string): EventTime | undefined => timeOf(calendar, propertyOf(event, name));
  const start = time('dtstart');
  const length = durationOf(propertyValue(event, 'duration'));
  const after = start === undefined || length === undefined ? undefined : { ...start, at: start.at + length };
  return { start, end: time('dtend') ?? after, occurrence: time('recurrence-id') };
}

function timeOf(calendar: CalendarComponent, property: CalendarProperty | undefined): EventTime | undefined {
  const value = property?.[3];
  const at = localTime(value);
  if (property === undefined || at === undefined || typeof value !== 'string') return undefined;
  if (!value.includes('T')) return { kind: 'day', at };
  if (value.endsWith('Z')) return { kind: 'instant', at };
  const zone = parameterOf(property, 'tzid');
  const rule = zone === '' ? undefined : zoneRule(calendar, zone);
  if (rule === undefined) return { kind: 'local', at, zone: withoutMarks(zone).slice(0, 60) };
  return { kind: 'instant', at: rule(at) };
}

/** Ms of a DURATION. RFC 5545 3.3.6. */
function durationOf(value: string): number | undefined {
  const parts = /^\+?P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/.exec(value);
  if (parts === null) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((one) => Number(one ?? 0));
  return ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

/** True if another message about the same event is newer. RFC 5546 2.1.5: SEQUENCE, then DTSTAMP. */
export function isNewer(one: CalendarEvent, than: CalendarEvent): boolean {
  if (one.uid !== than.uid || !['REQUEST', 'CANCEL', 'PUBLISH'].includes(one.method)) return false;
  // A message about one occurrence replaces nothing that was said about the others.
  if (one.occurrence !== undefined && one.occurrence.at !== than.occurrence?.at) return false;
  return one.sequence > than.sequence || (one.sequence === than.sequence && one.stamp > than.stamp);
}
