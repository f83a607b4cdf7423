const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Sender in the From_ lines of our exports: the fields that follow it are ours. */
export const EXPORT_SENDER = 'mailstead-export';

/** Octets of a From_ line that are read. */
export const MAX_FROM_LINE = 1_000;

/**
 * Reports whether a line that begins with "From " starts a message. RFC 4155: an address and a date; Thunderbird writes
 * "From - " and a date, or nothing. "From here on it rained" is text.
 */
export function isFromLine(line: string): boolean {
  if (!line.startsWith('From ') || line.length > MAX_FROM_LINE) return false;
  return line.trimEnd() === 'From' || /^From .*\d\d:\d\d/.test(line);
}

/** Time of a From_ line (asctime, with or without a zone), ms UTC; undefined: none that is understood. */
export function fromLineTime(line: string): number | undefined {
  const found =
    / (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}) (\d\d):(\d\d)(?::(\d\d))?(?: ([+-]\d{4}|[A-Z]{1,5}))? (\d{4})(?: ([+-]\d{4}))?/.exec(
      line,
    );
  if (found === null) return undefined;
  const [, month = '', day, hours, minutes, seconds = '0', before, year, after] = found;
  const zone = after ?? before ?? '+0000';
  const at = Date.UTC(+year!, MONTHS.indexOf(month), +day!, +hours!, +minutes!, +seconds);
  return Number.isNaN(at) ? undefined : at - offsetOf(zone);
}

/** Offset of a numeric zone, ms; names of zones count as UTC. */
function offsetOf(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d)(\d\d)$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** The From_ line of an export, without its line end. */
export function fromLine(receivedAt: number): string {
  const at = new Date(receivedAt);
  const two = (number: number): string => String(number).padStart(2, '0');
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  const day = String(at.getUTCDate()).padStart(2, ' ');
  return `From ${EXPORT_SENDER} ${DAYS[at.getUTCDay()]} ${MONTHS[at.getUTCMonth()]} ${day} ${time} ${at.getUTCFullYear()}`;
}
