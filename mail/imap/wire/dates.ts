const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec';
const DAY_MS = 86_400_000;

/** `17-Jul-1996 02:44:25 -0700` in ms UTC, or undefined. RFC 9051 9 `date-time`. */
export function parseDateTime(text: string): number | undefined {
  const match = /^([ \d]?\d)-([A-Za-z]{3})-(\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/.exec(text);
  if (!match) return undefined;
  const [, day = '', month = '', year = '', hour = '', minute = '', second = '', sign, zoneHour = '', zoneMinute = ''] =
    match;
  const days = dayNumber(Number(year), month, Number(day));
  // 60 is a leap second.
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  if (Number(zoneMinute) > 59) return undefined;
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -60_000 : 60_000);
  return days * DAY_MS + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1000 - zone;
}

/** `1-Feb-1994` in days since 1970-01-01, or undefined. RFC 9051 9 `date-text`. */
export function parseImapDate(text: string): number | undefined {
  const match = /^(\d\d?)-([A-Za-z]{3})-(\d{4})$/.exec(text);
  return match ? dayNumber(Number(match[3]), match[2] ?? '', Number(match[1])) : undefined;
}

function dayNumber(year: number, monthName: string, day: number): number | undefined {
  const found = MONTHS.indexOf(monthName.toLowerCase());
  if (found === -1 || found % 3 !== 0) return undefined;
  // setUTCFullYear, because Date.UTC maps the years 0 to 99 to 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, found / 3, day);
  return date.getUTCMonth() === found / 3 && date.getUTCDate() === day ? date.getTime() / DAY_MS : undefined;
}
