const HOUR = 8;
const MONDAY = 1;

/** Times that people choose, from now. */
export function laterTimes(now: Date): { label: string; at: Date }[] {
  const evening = atHour(now, 0, 18);
  const toMonday = (MONDAY - now.getDay() + 7) % 7 || 7;
  return [
    ...(evening.getTime() - now.getTime() > 3_600_000 ? [{ label: 'This evening', at: evening }] : []),
    { label: 'Tomorrow morning', at: atHour(now, 1, HOUR) },
    { label: 'Monday morning', at: atHour(now, toMonday, HOUR) },
  ];
}

/** The time of an hour, so many days from now. */
export function atHour(now: Date, days: number, hour: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
}

/** A time as a date field has it, in the reader's zone. */
export function fieldTime(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
