import { formatAddress, parseAddress } from '../../message/address.ts';
import { formatField, formatMailbox, formatPhrase } from '../../message/compose-text.ts';
import { formatDate } from '../../message/date.ts';
import { encodeWords } from '../../message/encoded-word.ts';
import type { HeaderForm } from '../../message/header-forms.ts';
import { type ArgumentReader, joinPath, list, nullable, object, text, wrong } from '../core/arguments.ts';
import { readHeaderProperty } from '../email/email-selection.ts';

/** Header fields of a new message or part. */
export interface HeaderBlock {
  /** Complete lines by lower-case name, in output order. */
  readonly lines: Map<string, string>;
}

/** Convenience properties and their header fields. RFC 8621 4.1.2 and 4.1.3. */
const CONVENIENCE_PROPERTIES: Readonly<Record<string, readonly [field: string, form: HeaderForm]>> = {
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

/** Fields allowed once. RFC 5322 3.6. */
const SINGLE_FIELDS = new Set([
  ...Object.values(CONVENIENCE_PROPERTIES).map(([name]) => name.toLowerCase()),
  'mime-version',
]);

/** Maximum length of a field name, so that colon and a word fit on the line. */
const MAX_NAME_LENGTH = 70;

/** Checks for a property that sets a header field. */
export function isEmailHeader(property: string): boolean {
  return Object.hasOwn(CONVENIENCE_PROPERTIES, property) || property.startsWith('header:');
}

/** Reads the header fields of an Email object; Content-* fields belong to parts. RFC 8621 4.6. */
export function readEmailHeader(object: Readonly<Record<string, unknown>>): HeaderBlock {
  const lines = new Map<string, string>();
  for (const [property, [name, form]] of Object.entries(CONVENIENCE_PROPERTIES)) {
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

/** Reads the `header:` properties of a part. `refuse` returns the reason to reject a field (lower case), or undefined. */
export function readPartHeaderProperties(
  object: Readonly<Record<string, unknown>>,
  path: string,
  refuse: (name: string) => string | undefined,
): HeaderBlock {
  const lines = new Map<string, string>();
  for (const [property, value] of Object.entries(object)) {
    if (property.startsWith('header:')) addProperty(lines, property, value, joinPath(path, property), refuse);
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
  if (typeof header === 'string') throw wrong(path, `is invalid: ${header}`);
  const { field, form, all } = header;
  const why = refuse(field);
  if (why !== undefined) throw wrong(path, why);
  // The client's spelling of the name.
  const [, name = field] = property.split(':');
  if (name.length > MAX_NAME_LENGTH) throw wrong(path, `must have a name of at most ${MAX_NAME_LENGTH} characters`);
  if (value === null) return;
  const each: ArgumentReader<string> = (one, at) => fieldLines(name, form, one, at);
  const written = all ? list(each)(value, path) : [each(value, path)];
  if (written.length > 1 && SINGLE_FIELDS.has(field)) throw wrong(path, 'must occur at most once');
  add(lines, name, written.join(''), path);
}

function add(lines: Map<string, string>, name: string, written: string, path: string): void {
  const lower = name.toLowerCase();
  if (lines.has(lower)) throw wrong(path, `repeats the field ${name}`);
  // An empty list adds no field.
  if (written !== '') lines.set(lower, written);
}

function fieldLines(name: string, form: HeaderForm, value: unknown, path: string): string {
  const single = form === 'MessageIds' && /^(?:resent-)?message-id$/i.test(name);
  if (single && Array.isArray(value) && value.length > 1) throw wrong(path, 'must be exactly one message id');
  return headerLines(name, form, value, path);
}

/** Maximum word length: a word cannot be folded, and a line has at most 998 characters. RFC 5322 2.1.1. */
const MAX_WORD_LENGTH = 900;

/** Writes a header field from a value in one of the forms; an empty string for an empty list. RFC 8621 4.1.2. */
function headerLines(name: string, form: HeaderForm, value: unknown, path: string): string {
  if (form === 'Raw') return rawField(name, text(value, path), path);
  const written = WRITERS[form](value, path);
  return written === '' && form !== 'Text' ? '' : formatField(name, written);
}

const WRITERS: Readonly<Record<Exclude<HeaderForm, 'Raw'>, ArgumentReader<string>>> = {
  Text: (value, path) => unstructured(line(value, path)),
  Addresses: (value, path) => addresses(value, path),
  GroupedAddresses: (value, path) => groups(value, path),
  MessageIds: (value, path) => list(messageId)(value, path).join(' '),
  Date: (value, path) => date(value, path),
  URLs: (value, path) => list(url)(value, path).join(', '),
};

/** Reads one line of text: a control character or line end could inject a header field. */
export const line: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  if (/[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(given)) throw wrong(path, 'must be one line without control characters');
  return given;
};

/** Writes a Raw value with the client's own folding; rejects header injection. */
function rawField(name: string, value: string, path: string): string {
  const lines = value.split(/\r\n(?=[ \t])/);
  if (lines.some((one) => !/^[\t\x20-\x7e]*$/.test(one))) {
    throw wrong(path, 'must be ASCII, and may be folded with CRLF and a space. Use :asText for other text');
  }
  if (lines.slice(1).some((one) => one.trim() === '')) throw wrong(path, 'must not be folded into an empty line');
  if (lines.some((one) => one.length > MAX_WORD_LENGTH)) {
    if (/[^ ]{900}/.test(value)) throw wrong(path, `must not have words of more than ${MAX_WORD_LENGTH} characters`);
    return formatField(name, lines.join('').trim());
  }
  return `${name}:${/^[ \t]/.test(value) ? '' : ' '}${value}\r\n`;
}

/** Writes plain ASCII text as it is, else as encoded-words, which keep leading and trailing spaces. */
function unstructured(given: string): string {
  const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/.test(given) && !given.includes('=?');
  return plain && !/[^ ]{900}/.test(given) ? given : encodeWords(given);
}

const oneAddress = object({ name: nullable(line), email: line });

function addresses(value: unknown, path: string): string {
  const named = list(oneAddress)(value, path);
  return named
    .map(({ name, email }, i) =>
      formatMailbox(spelled(email, joinPath(joinPath(path, String(i)), 'email')), name ?? ''),
    )
    .join(', ');
}

/** Formats an address; also accepts a single word, as in a draft while the user types. */
function spelled(email: string, path: string): string {
  const address = parseAddress(email);
  if (address !== undefined) return formatAddress(address);
  if (/^[\w!#$%&'*+\-/=?^`{|}~.]{1,64}$/.test(email)) return email;
  throw wrong(path, 'must be an address such as anna@example.com');
}

const oneGroup = object({ name: nullable(line), addresses: (value) => value });

function groups(value: unknown, path: string): string {
  return list(oneGroup)(value, path)
    .map(({ name, addresses: members }, i) => {
      const inside = addresses(members, joinPath(joinPath(path, String(i)), 'addresses'));
      return name === null ? inside : `${formatPhrase(name)}: ${inside};`;
    })
    .filter((group) => group !== '')
    .join(', ');
}

const messageId: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  if (!/^[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/.test(given))
    throw wrong(path, 'must be a message id without angle brackets');
  return `<${given}>`;
};

const url: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  if (!/^[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/.test(given)) throw wrong(path, 'must be a URL in ASCII');
  return `<${given}>`;
};

/** Reads a Date and keeps its time zone. RFC 8620 1.4. */
const date: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  const [whole, hours, minutes] =
    /^(?:19|[2-9]\d)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|([+-]\d\d):(\d\d))$/.exec(given) ?? [];
  const at = whole === undefined ? Number.NaN : Date.parse(whole);
  if (Number.isNaN(at)) throw wrong(path, 'must be a time such as 2026-11-21T10:00:00+01:00');
  const sign = hours?.startsWith('-') === true ? -1 : 1;
  return formatDate(at, Number(hours ?? 0) * 60 + sign * Number(minutes ?? 0));
};
