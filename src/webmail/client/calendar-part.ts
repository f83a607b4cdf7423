import type { MessagePart } from './jmap-types.ts';

/** The calendar part of an email. Some programs send it a second time as a file. */
export function calendarPart(parts: readonly MessagePart[]): MessagePart | undefined {
  const known = parts.filter(({ blobId }) => blobId !== null);
  return known.find(({ type }) => type === 'text/calendar') ?? known.find(({ type }) => type === 'application/ics');
}
