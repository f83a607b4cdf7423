import type { Vacation } from '../../store/vacation.ts';
import { bool, nullable, type Reader, utcDate } from '../arguments.ts';
import { orDefault, textUpTo } from '../set-properties.ts';
import { formatUtc } from '../submission/submission-object.ts';

/** The id of the one that each account has. RFC 8621 8. */
export const SINGLETON = 'singleton';

export const VACATION_PROPERTIES: ReadonlySet<string> = new Set([
  'id',
  'isEnabled',
  'fromDate',
  'toDate',
  'subject',
  'textBody',
  'htmlBody',
]);

export function vacationObject({ enabled, fromAt, toAt, subject, textBody, htmlBody }: Vacation) {
  return {
    id: SINGLETON,
    isEnabled: enabled,
    fromDate: fromAt === null ? null : formatUtc(fromAt),
    toDate: toAt === null ? null : formatUtc(toAt),
    subject,
    textBody,
    htmlBody,
  };
}

const LONGEST_BODY = 256 * 1024;

/** What a client may set. */
export const VACATION_VALUES = {
  isEnabled: orDefault(bool, false),
  fromDate: nullable(utcDate),
  toDate: nullable(utcDate),
  subject: nullable(textUpTo(500)),
  textBody: nullable(textUpTo(LONGEST_BODY)),
  htmlBody: nullable(textUpTo(LONGEST_BODY)),
} satisfies Record<string, Reader<unknown>>;
