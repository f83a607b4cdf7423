import type { MailAddress } from './jmap-types.ts';
import { LOCALE } from './translate.ts';

/** A format is made when it is needed: each takes some milliseconds of a phone's start. */
function lazyFormat(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  let format: Intl.DateTimeFormat | undefined;
  return (date) => (format ??= new Intl.DateTimeFormat(LOCALE, options)).format(date);
}

const timeText = lazyFormat({ hour: '2-digit', minute: '2-digit' });
const dayText = lazyFormat({ day: 'numeric', month: 'short' });
const dateText = lazyFormat({ day: 'numeric', month: 'short', year: 'numeric' });
const fullText = lazyFormat({
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});

/** A time in a list: the hour today, the day this year, else the date. */
export function shortTime(iso: string, now = new Date()): string {
  const at = new Date(iso);
  if (at.toDateString() === now.toDateString()) return timeText(at);
  return (at.getFullYear() === now.getFullYear() ? dayText : dateText)(at);
}

/** A time in full, with its zone. */
export function fullTime(iso: string): string {
  return fullText(new Date(iso));
}

/** Octets for people: 1.4 MB. */
export function fileSize(octets: number): string {
  const [value, unit] =
    octets < 1000
      ? ([octets, 'byte'] as const)
      : octets < 1_000_000
        ? ([octets / 1000, 'kilobyte'] as const)
        : ([octets / 1_000_000, 'megabyte'] as const);
  const maximumFractionDigits = value < 10 && unit !== 'byte' ? 1 : 0;
  // The short form of bytes has no plural: "406 byte".
  const unitDisplay = unit === 'byte' ? 'long' : 'short';
  return new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay, maximumFractionDigits }).format(value);
}

/** Direction marks and invisible characters that could make an address look like another. */
const DECEIVING = /[\u{ad}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2069}\u{feff}]/gu;

/** Text without marks that nobody sees, such as of a file that turns its name around. */
export function withoutMarks(text: string): string {
  return text.replaceAll(DECEIVING, '');
}

/** The name of an address, or the address. */
export function nameOf({ name, email }: MailAddress): string {
  const clean = withoutMarks(name ?? '').trim();
  return clean === '' ? email : clean;
}

/** An address as a header field has it. */
export function addressText({ name, email }: MailAddress): string {
  if (name === null || name.trim() === '') return email;
  return /^[\w .'-]+$/u.test(name) ? `${name} <${email}>` : `"${name.replaceAll(/["\\]/g, '')}" <${email}>`;
}

/** Removes reply marks, so that a reply gets exactly one. RFC 5256 2.1 has more forms. */
export function bareSubject(subject: string): string {
  return subject.replace(/^(?:\s*(?:re|aw|fwd?|wg)(?:\[\d{1,3}\])?:)+\s*/i, '').trim();
}
