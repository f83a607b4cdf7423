const DAY_MS = 86_400_000;

/** Minutes that the server's time zone (`TZ`) is ahead of UTC at an instant. Before standard time there were seconds too. */
export function minutesAhead(ms: number): number {
  return -Math.round(new Date(ms).getTimezoneOffset());
}

/** The test of an instant against a day, given in days since 1970-01-01, of the server's time zone. RFC 9051 6.4.4. */
export function onLocalDay(when: 'before' | 'on' | 'since', day: number): (ms: number) => boolean {
  const begin = beginOf(day);
  if (when === 'before') return (ms) => ms < begin;
  if (when === 'since') return (ms) => ms >= begin;
  const end = beginOf(day + 1);
  return (ms) => ms >= begin && ms < end;
}

/** The first instant of a day, which is after midnight where the clock goes forward at midnight. */
function beginOf(day: number): number {
  const date = new Date(day * DAY_MS);
  // setFullYear, because the constructor maps the years 0 to 99 to 1900 to 1999.
  const local = new Date(2000, 0, 1);
  local.setFullYear(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return local.getTime();
}
