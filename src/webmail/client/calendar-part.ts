import type { MessagePart } from './jmap-types.ts';

/** The calendar part of an email. Some programs send it a second time as a file. */
export function calendarPart(parts: readonly MessagePart[]): MessagePart | undefined {
  const known = parts.filter(({ blobId }) => blobId !== null);
  return known.find(({ type }) => type === 'text/calendar') ?? known.find(({ type }) => type === 'application/ics');
}

/** The parts without the second copy of a calendar. A file of another size is another file, and stays. */
export function withoutCalendarCopy(parts: readonly MessagePart[]): MessagePart[] {
  const calendar = calendarPart(parts);
  if (calendar?.type !== 'text/calendar') return [...parts];
  const copy = parts.find(({ type, size }) => type === 'application/ics' && size === calendar.size);
  return parts.filter((part) => part !== copy);
}
