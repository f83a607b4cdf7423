/** Date field as a moment and a calendar day in the sender's zone. */
export interface SentDate {
  /** ms UTC, at least 1. */
  at: number;
  /** Days since 1970-01-01 in the sender's zone, at least 0. */
  day: number;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MINUTE = 60_000;
const DAY = 86_400_000;

const CLOCK = '(\\d{1,2})[:.](\\d{1,2})(?:[:.](\\d{1,2})(?:[.,]\\d{1,9})?)?';
const RFC = new RegExp(`^(?:[a-z]{2,9}[.,]{0,2} ?)?(\\d{1,2})[ -]([a-z]{3,9})[.,]? ?-?(\\d{2,4}),?(?: ${CLOCK})?(.*)$`);
const ASCTIME = new RegExp(`^[a-z]{2,9},? ([a-z]{3,9}) (\\d{1,2}),? ${CLOCK}(?: ([a-z+-][a-z0-9:+-]*))? (\\d{4})(.*)$`);
const ISO = new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2})(?:[t ]${CLOCK})?(.*)$`);

/** Zones of RFC 5322 4.3 in minutes; every other name counts as UTC. */
const ZONES: Readonly<Record<string, number>> = {
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
};

/** Local date and time with its zone. */
interface WrittenDate {
  /** Local time read as UTC, ms. */
  local: number;
  /** Local midnight read as UTC, ms. */
  midnight: number;
  /** Minutes east of UTC. */
  zone: number;
}

/** Parses a Date field: RFC 5322 3.3 and 4.3, and the asctime and ISO 8601 forms found in real mail. */
export function parseDate(value: string): SentDate | undefined {
  const written = readDate(value);
  if (written === undefined) return undefined;
  const { local, midnight, zone } = written;
  return { at: Math.max(1, local - zone * MINUTE), day: Math.max(0, midnight / DAY) };
}

/** Parses to a Date of RFC 8620 1.4, in the sender's zone. */
export function zonedDate(value: string): string | undefined {
  const written = readDate(value);
  if (written === undefined) return undefined;
  const { local, zone } = written;
  // RFC 3339 5.6 does not allow offsets of 24 hours or more.
  if (zone === 0 || Math.abs(zone) >= 24 * 60) return `${clockText(local - zone * MINUTE)}Z`;
  const digits = (number: number): string => String(number).padStart(2, '0');
  const minutes = Math.abs(zone);
  return `${clockText(local)}${zone < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`;
}

function clockText(local: number): string {
  return new Date(local).toISOString().slice(0, 19);
}

function readDate(value: string): WrittenDate | undefined {
  const short = value.slice(0, 300);
  const text = (short.includes('(') ? withoutComments(short) : short).replace(/\s+/g, ' ').trim().toLowerCase();
  const rfc = RFC.exec(text);
  if (rfc) return moment(year(rfc[3]), month(rfc[2]), rfc[1], rfc.slice(4, 7), rfc[7]);
  const asctime = ASCTIME.exec(text);
  if (asctime) {
    return moment(year(asctime[7]), month(asctime[1]), asctime[2], asctime.slice(3, 6), asctime[6] ?? asctime[8]);
  }
  const iso = ISO.exec(text);
  return iso ? moment(Number(iso[1]), Number(iso[2]) - 1, iso[3], iso.slice(4, 7), iso[7]) : undefined;
}

function withoutComments(text: string): string {
  let out = '';
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth++;
    else if (char === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) out += char;
  }
  return out;
}

/** RFC 5322 4.3: 00 to 49 is this century, 50 to 99 the last; three digits count from 1900. */
function year(text: string | undefined): number {
  const number = Number(text);
  if (text?.length === 4) return number;
  return number < 50 ? 2000 + number : 1900 + number;
}

function month(text: string | undefined): number {
  return MONTHS.indexOf((text ?? '').slice(0, 3));
}

function moment(
  years: number,
  months: number,
  dayText: string | undefined,
  clock: (string | undefined)[],
  rest: string | undefined,
): WrittenDate | undefined {
  const days = Number(dayText);
  const [hours, minutes, seconds] = [Number(clock[0] ?? 0), Number(clock[1] ?? 0), Number(clock[2] ?? 0)];
  if (months < 0 || months > 11 || days < 1 || days > 31 || hours > 24 || minutes > 59 || seconds > 60)
    return undefined;
  const midnight = Date.UTC(years, months, days);
  // Date.UTC reads years below 100 as 19xx, which year() already did.
  const local = midnight + ((hours * 60 + minutes + afternoon(rest, hours)) * 60 + seconds) * 1000;
  return { local, midnight, zone: zoneMinutes(rest) };
}

function afternoon(rest: string | undefined, hours: number): number {
  if (rest === undefined || hours > 12) return 0;
  if (/^ ?p\.?m\b/.test(rest)) return hours < 12 ? 720 : 0;
  return /^ ?a\.?m\b/.test(rest) && hours === 12 ? -720 : 0;
}

function zoneMinutes(rest: string | undefined): number {
  const text = (rest ?? '').replace(/^ ?[ap]\.?m\b\.?/, '').trim();
  const numeric = /^(?:gmt|utc?)? ?([+-]) ?(\d{1,2}):?(\d{2})?/.exec(text);
  if (!numeric) return ZONES[/^[a-z]+/.exec(text)?.[0] ?? ''] ?? 0;
  const minutes = Number(numeric[2]) * 60 + Number(numeric[3] ?? 0);
  return minutes > 24 * 60 ? 0 : numeric[1] === '-' ? -minutes : minutes;
}

/** Formats a Date field value; `zone` in minutes east of UTC. RFC 5322 3.3. */
export function formatDate(at: number, zone = 0): string {
  const minutes = Math.abs(zone);
  const digits = String(Math.floor(minutes / 60) * 100 + (minutes % 60)).padStart(4, '0');
  // toUTCString has had exactly this form since ECMAScript 2018, but for the name of the zone.
  return new Date(at + zone * 60_000).toUTCString().replace(/GMT$/, `${zone < 0 ? '-' : '+'}${digits}`);
}
