import type { HeaderForm } from '../../message/header-forms.ts';
import { join, list, type Reader, wrong } from '../arguments.ts';
import { readHeaderProperty } from '../email/header-property.ts';
import { headerLines } from './header-value.ts';

/** Header fields of a message or a part that is being written. */
export interface HeaderBlock {
  /** Whole lines by lower-case name, in the order in which they are written. */
  readonly lines: Map<string, string>;
}

/** Properties that stand for a header field of the message. RFC 8621 4.1.2 and 4.1.3. */
const CONVENIENCES: Readonly<Record<string, readonly [field: string, form: HeaderForm]>> = {
  sentAt: ['Date', 'Date'],
  from: ['From', 'Addresses'],
  sender: ['Sender', 'Addresses'],
  replyTo: ['Reply-To', 'Addresses'],
  to: ['To', 'Addresses'],
  cc: ['Cc', 'Addresses'],
  bcc: ['Bcc', 'Addresses'],
  subject: ['Subject', 'Text'],
  messageId: ['Message-ID', 'MessageIds'],
  inReplyTo: ['In-Reply-To', 'MessageIds'],
  references: ['References', 'MessageIds'],
};

/** RFC 5322 3.6: at most one of each. */
const SINGLE = new Set([...Object.values(CONVENIENCES).map(([name]) => name.toLowerCase()), 'mime-version']);

/** With its colon and a word it must fit on a line. */
const LONGEST_NAME = 70;

/** Whether a property of an Email is about a header field. */
export function isEmailHeader(property: string): boolean {
  return Object.hasOwn(CONVENIENCES, property) || property.startsWith('header:');
}

/** The header that an Email object asks for. Content fields belong to its parts. RFC 8621 4.6. */
export function readEmailHeader(object: Readonly<Record<string, unknown>>): HeaderBlock {
  const lines = new Map<string, string>();
  for (const [property, [name, form]] of Object.entries(CONVENIENCES)) {
    const value = Object.hasOwn(object, property) ? object[property] : undefined;
    if (value === undefined || value === null) continue;
    add(lines, name, fieldLines(name, form, value, property), property);
  }
  for (const [property, value] of Object.entries(object)) {
    if (!property.startsWith('header:')) continue;
    addProperty(lines, property, value, property, (name) =>
      name.startsWith('content-') ? 'belongs to a part of the body' : undefined,
    );
  }
  return { lines };
}

/** The `header:` properties of a part. `refuse` says why a field (lower case) may not be given, or undefined. */
export function readPartHeader(
  object: Readonly<Record<string, unknown>>,
  path: string,
  refuse: (name: string) => string | undefined,
): HeaderBlock {
  const lines = new Map<string, string>();
  for (const [property, value] of Object.entries(object)) {
    if (property.startsWith('header:')) addProperty(lines, property, value, join(path, property), refuse);
  }
  return { lines };
}

function addProperty(
  lines: Map<string, string>,
  property: string,
  value: unknown,
  path: string,
  refuse: (name: string) => string | undefined,
): void {
  const header = readHeaderProperty(property);
  if (typeof header === 'string') throw wrong(path, `cannot be given: ${header}`);
  const { field, form, all } = header;
  const why = refuse(field);
  if (why !== undefined) throw wrong(path, why);
  // As the client spells it.
  const [, name = field] = property.split(':');
  if (name.length > LONGEST_NAME) throw wrong(path, `must have a name of at most ${LONGEST_NAME} characters`);
  if (value === null) return;
  const each: Reader<string> = (one, at) => fieldLines(name, form, one, at);
  const written = all ? list(each)(value, path) : [each(value, path)];
  if (written.length > 1 && SINGLE.has(field)) throw wrong(path, 'must not be there more than once');
  add(lines, name, written.join(''), path);
}

function add(lines: Map<string, string>, name: string, written: string, path: string): void {
  const lower = name.toLowerCase();
  if (lines.has(lower)) throw wrong(path, `gives ${name} a second time`);
  // A list of nothing is as if it were not given.
  if (written !== '') lines.set(lower, written);
}

function fieldLines(name: string, form: HeaderForm, value: unknown, path: string): string {
  const single = form === 'MessageIds' && /^(?:resent-)?message-id$/i.test(name);
  if (single && Array.isArray(value) && value.length > 1) throw wrong(path, 'must be exactly one message id');
  return headerLines(name, form, value, path);
}
