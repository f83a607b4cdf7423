import type { PlainKey } from './message-types.ts';

/** A time that people choose, with its message. */
export interface LaterTime {
  label: PlainKey;
  at: Date;
}

const HOUR = 8;
const MONDAY = 1;

/** Times that people choose, from now. */
export function laterTimes(now: Date): LaterTime[] {
  const evening = atHour(now, 0, 18);
  const toMonday = (MONDAY - now.getDay() + 7) % 7 || 7;
  const all: LaterTime[] = [
    { label: 'later.evening', at: evening },
    { label: 'later.tomorrow', at: atHour(now, 1, HOUR) },
    { label: 'later.monday', at: atHour(now, toMonday, HOUR) },
  ];
  return evening.getTime() - now.getTime() > 3_600_000 ? all : all.slice(1);
}

/** Times until which people snooze, from now: in three hours, if that is today. */
export function snoozeTimes(now: Date): LaterTime[] {
  const soon = new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() + 3);
  const toMonday = (MONDAY - now.getDay() + 7) % 7 || 7;
  const all: LaterTime[] = [
    { label: 'later.today', at: soon },
    { label: 'later.tomorrow', at: atHour(now, 1, HOUR) },
    { label: 'later.next-week', at: atHour(now, toMonday, HOUR) },
  ];
  return soon.getDate() === now.getDate() ? all : all.slice(1);
}

/** The time of an hour, so many days from now. */
export function atHour(now: Date, days: number, hour: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
}

/** A time as a date field has it, in the reader's zone. */
export function fieldTime(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
