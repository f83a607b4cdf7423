import { withoutMarks } from '../format.ts';

/** A component as jCal has it: name, properties, components. RFC 7265 3.3. */
export type CalendarComponent = readonly [
  name: string,
  properties: readonly CalendarProperty[],
  components: readonly CalendarComponent[],
];
/** A property as jCal has it. RFC 7265 3.4. */
export type CalendarProperty = readonly [
  name: string,
  parameters: Readonly<Record<string, unknown>>,
  type: string,
  ...values: unknown[],
];

/** Larger calendars are not read. Invitations have some kB. */
export const MAX_CALENDAR_OCTETS = 256 * 1024;
/** Octets of an unfolded line: the library reads its parameters in quadratic time. */
const MAX_LINE = 8 * 1024;
const MAX_LINES = 5_000;
const MAX_TEXT = 500;

/** Properties that are read. Descriptions and alarms are not even parsed. */
const READ = new Set(
  `BEGIN END METHOD UID SEQUENCE DTSTAMP DTSTART DTEND DURATION RRULE RDATE EXDATE RECURRENCE-ID SUMMARY LOCATION ORGANIZER
  ATTENDEE STATUS TZID TZOFFSETFROM TZOFFSETTO`.split(/\s+/),
);

/** Parses iCalendar text (RFC 5545); undefined if it is none. Linear: each line has a bound, and no recurrence is expanded. */
export async function readCalendar(text: string): Promise<CalendarComponent | undefined> {
  if (text.length > MAX_CALENDAR_OCTETS) return undefined;
  const { default: library } = await import('ical.js');
  try {
    const parsed: unknown = library.parse(linesOf(text).join('\r\n'));
    const [first] = parsed as readonly unknown[];
    const calendar = (Array.isArray(first) ? first : parsed) as CalendarComponent;
    return calendar[0] === 'vcalendar' ? calendar : undefined;
  } catch {
    // The library throws errors of any kind on what is no calendar.
    return undefined;
  }
}

/** Unfolded lines (RFC 5545 3.1) that are read, without control characters, which could end a line of the reply. */
function linesOf(text: string): string[] {
  const unfolded = text
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .map((line) => line.replaceAll(/[\0-\b\v-\x1f\x7f]/g, ''));
  return unfolded
    .filter((line) => line.length <= MAX_LINE && READ.has((/^[\w-]{1,20}/.exec(line)?.[0] ?? '').toUpperCase()))
    .slice(0, MAX_LINES);
}

/** Writes a calendar as text. */
export async function writeCalendar(calendar: CalendarComponent): Promise<string> {
  const { default: library } = await import('ical.js');
  return library.stringify(calendar as never);
}

export function propertyOf([, properties]: CalendarComponent, name: string): CalendarProperty | undefined {
  return properties.find(([one]) => one === name);
}

export function propertiesOf([, properties]: CalendarComponent, name: string): CalendarProperty[] {
  return properties.filter(([one]) => one === name);
}

export function componentsOf([, , components]: CalendarComponent, name: string): CalendarComponent[] {
  return components.filter(([one]) => one === name);
}

/** The value of a property as it was written. */
export function propertyValue(component: CalendarComponent, name: string): string {
  const value = propertyOf(component, name)?.[3];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The value of a property for people, in one line. */
export function propertyText(component: CalendarComponent, name: string): string {
  return withoutMarks(propertyValue(component, name)).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}

/** A parameter of a property; an empty text if there is none. */
export function parameterOf([, parameters]: CalendarProperty, name: string): string {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : '';
  return typeof value === 'string' ? value : '';
}
