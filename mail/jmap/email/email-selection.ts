import { HEADER_FORMS, type HeaderForm } from '../../message/header-forms.ts';
import { bool, list, nullable, optional, text, unsigned } from '../core/arguments.ts';
import { MethodError } from '../core/errors.ts';

/** The properties that a client requests of each email. RFC 8621 4.2 and 4.9. */
export interface EmailSelection {
  /** Names as the client wrote them. */
  properties: readonly string[];
  /** The `header:` properties among them. */
  headers: readonly HeaderProperty[];
  bodyProperties: ReadonlySet<string>;
  bodyHeaders: readonly HeaderProperty[];
  /** Parts included in `bodyValues`. */
  values: { text: boolean; html: boolean; all: boolean };
  /** Octets; Infinity for no limit. */
  maxBodyValueBytes: number;
}

/** Properties from the store's tables. */
export const METADATA = ['id', 'blobId', 'threadId', 'mailboxIds', 'keywords', 'size', 'receivedAt'] as const;

/** Default properties from the message, in the order of RFC 8621 4.2. */
export const DEFAULT_CONTENT = words(
  'messageId inReplyTo references sender from to cc bcc replyTo subject sentAt',
  'hasAttachment preview bodyValues textBody htmlBody attachments',
);

const PROPERTIES: ReadonlySet<string> = new Set([...METADATA, ...DEFAULT_CONTENT, 'headers', 'bodyStructure']);

const DEFAULT_BODY_PROPERTIES = words('partId blobId size name type charset disposition cid language location');

const BODY_PROPERTIES = new Set([...DEFAULT_BODY_PROPERTIES, 'headers', 'subParts']);

function words(...lines: string[]): string[] {
  return lines.join(' ').split(' ');
}

/** Maximum header properties of one request; each is searched in each message. */
const MAX_HEADERS = 100;

/** Arguments that Email/get and Email/parse share. */
export const SELECTION_ARGUMENTS = {
  bodyProperties: nullable(list(text)),
  fetchTextBodyValues: optional(bool, false),
  fetchHTMLBodyValues: optional(bool, false),
  fetchAllBodyValues: optional(bool, false),
  maxBodyValueBytes: optional(unsigned, 0),
};

type Given = { [K in keyof typeof SELECTION_ARGUMENTS]: ReturnType<(typeof SELECTION_ARGUMENTS)[K]> };

/** Checks for an Email property. Throws `invalidArguments` for an invalid `header:` property. */
export function isEmailProperty(property: string): boolean {
  return PROPERTIES.has(property) || isHeaderProperty(property, 'properties');
}

/** Throws `invalidArguments` for an unknown property. */
export function checkProperties(properties: Iterable<string>): void {
  for (const one of properties) {
    if (!isEmailProperty(one)) throw wrong('properties', `unknown property "${one.slice(0, 100)}"`);
  }
}

/** Reads the selection. `properties` are valid already. */
export function readEmailSelection(properties: readonly string[], given: Given): EmailSelection {
  const body = given.bodyProperties ?? DEFAULT_BODY_PROPERTIES;
  const strange = body.find((one) => !BODY_PROPERTIES.has(one) && !isHeaderProperty(one, 'bodyProperties'));
  if (strange !== undefined) throw wrong('bodyProperties', `unknown body part property "${strange.slice(0, 100)}"`);
  return {
    properties,
    headers: headerProperties(properties, 'properties'),
    bodyProperties: new Set(body),
    bodyHeaders: headerProperties(new Set(body), 'bodyProperties'),
    values: {
      text: given.fetchTextBodyValues,
      html: given.fetchHTMLBodyValues,
      all: given.fetchAllBodyValues,
    },
    maxBodyValueBytes: given.maxBodyValueBytes === 0 ? Number.POSITIVE_INFINITY : given.maxBodyValueBytes,
  };
}

function isHeaderProperty(property: string, argument: string): boolean {
  if (!property.startsWith('header:')) return false;
  const read = readHeaderProperty(property);
  if (typeof read === 'string') throw wrong(argument, `"${property.slice(0, 100)}": ${read}`);
  return true;
}

function headerProperties(properties: Iterable<string>, argument: string): HeaderProperty[] {
  const found = [...properties].filter((property) => property.startsWith('header:'));
  if (found.length > MAX_HEADERS) throw wrong(argument, `at most ${MAX_HEADERS} header fields can be requested`);
  return found.map(readHeaderProperty).filter((one) => typeof one !== 'string');
}

function wrong(argument: string, why: string): MethodError {
  return new MethodError('invalidArguments', `Invalid "${argument}": ${why}.`, { arguments: [argument] });
}

const LISTED = ['messageId', 'inReplyTo', 'from', 'to', 'cc', 'bcc', 'subject', 'sentAt', 'preview'];
const IN_HEADER = ['references', 'sender', 'replyTo', 'headers'];
const IN_BODY = ['bodyStructure', 'textBody', 'htmlBody', 'attachments'];

/** Stored data that a selection needs. */
export interface RequiredReads {
  /** ENVELOPE and preview. */
  listing: boolean;
  /** BODYSTRUCTURE and part table. */
  structure: boolean;
  /** Header octets of the message. */
  header: boolean;
}

export function requiredReadsOf({ properties, headers, values }: EmailSelection): RequiredReads {
  const any = (names: readonly string[]): boolean => properties.some((one) => names.includes(one));
  const header = headers.length > 0 || any(IN_HEADER);
  const structure = any(IN_BODY) || (any(['bodyValues']) && (values.text || values.html || values.all));
  return { header, structure, listing: header || structure || any(LISTED) };
}

/** A parsed header property such as `header:List-Post:asURLs:all`. RFC 8621 4.1.3. */
export interface HeaderProperty {
  /** As the client wrote it; the response uses the same name. */
  property: string;
  /** Field name in lower case. */
  field: string;
  form: HeaderForm;
  all: boolean;
}

/** Allowed forms besides Raw, for fields of RFC 5322 and RFC 2369; other fields allow all. RFC 8621 4.1.2. */
const FORMS: Readonly<Record<string, readonly HeaderForm[]>> = {
  ...forFields(['Text'], 'subject comments keywords'),
  ...forFields(['Addresses', 'GroupedAddresses'], 'from sender reply-to to cc bcc'),
  ...forFields(
    ['Addresses', 'GroupedAddresses'],
    'resent-from resent-sender resent-reply-to resent-to resent-cc resent-bcc',
  ),
  ...forFields(['MessageIds'], 'message-id in-reply-to references resent-message-id'),
  ...forFields(['Date'], 'date resent-date'),
  ...forFields(['URLs'], 'list-help list-unsubscribe list-subscribe list-post list-owner list-archive'),
  ...forFields([], 'return-path received'),
};

function forFields(forms: readonly HeaderForm[], fields: string): Record<string, readonly HeaderForm[]> {
  return Object.fromEntries(fields.split(' ').map((field) => [field, forms]));
}

/** Parses a `header:` property; returns a string with the reason if it is invalid. */
export function readHeaderProperty(property: string): HeaderProperty | string {
  const match = /^header:([!-9;-~]+)(?::as([A-Za-z]+))?(:all)?$/.exec(property);
  if (match === null) return 'a header property is header:NAME, optionally :asFORM, optionally :all';
  const [, name = '', given, all] = match;
  const field = name.toLowerCase();
  const form = given === undefined ? 'Raw' : HEADER_FORMS.find((one) => one === given);
  if (form === undefined) return `the forms of a header field are ${HEADER_FORMS.join(', ')}`;
  const allowed = Object.hasOwn(FORMS, field) ? FORMS[field] : undefined;
  if (form !== 'Raw' && allowed?.includes(form) === false) {
    return `${name} allows only the forms ${['Raw', ...allowed].join(', ')} (RFC 8621 4.1.2)`;
  }
  return { property, field, form, all: all !== undefined };
}
