import { bool, list, nullable, optional, text, unsigned } from '../arguments.ts';
import { MethodError } from '../errors.ts';
import { type HeaderProperty, readHeaderProperty } from './header-property.ts';

/** What a client wants to know of each message. RFC 8621 4.2 and 4.9. */
export interface Wanted {
  /** As the client wrote them. */
  properties: readonly string[];
  /** Those of them that are header fields. */
  headers: readonly HeaderProperty[];
  bodyProperties: ReadonlySet<string>;
  bodyHeaders: readonly HeaderProperty[];
  /** Of which parts `bodyValues` has the texts. */
  values: { text: boolean; html: boolean; all: boolean };
  /** In octets; Infinity: as much as there is. */
  maxBodyValueBytes: number;
}

/** Told by the tables of the store. */
export const METADATA = ['id', 'blobId', 'threadId', 'mailboxIds', 'keywords', 'size', 'receivedAt'] as const;

/** Told by what stands in the message, in the order of RFC 8621 4.2. */
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

/** More than any client shows; each is looked for in each message. */
const MOST_HEADERS = 100;

/** The arguments that Email/get and Email/parse have in common. */
export const WANTED_ARGUMENTS = {
  bodyProperties: nullable(list(text)),
  fetchTextBodyValues: optional(bool, false),
  fetchHTMLBodyValues: optional(bool, false),
  fetchAllBodyValues: optional(bool, false),
  maxBodyValueBytes: optional(unsigned, 0),
};

type Given = { [K in keyof typeof WANTED_ARGUMENTS]: ReturnType<(typeof WANTED_ARGUMENTS)[K]> };

/** Whether Email has the property. Throws `invalidArguments` with the reason where it is a header field in a wrong form. */
export function isEmailProperty(property: string): boolean {
  return PROPERTIES.has(property) || isHeaderProperty(property, 'properties');
}

/** Throws `invalidArguments` for what Email does not have. */
export function checkProperties(properties: Iterable<string>): void {
  for (const one of properties) {
    if (!isEmailProperty(one)) throw wrong('properties', `there is no property "${one.slice(0, 100)}"`);
  }
}

/** `properties` are known ones. */
export function readWanted(properties: readonly string[], given: Given): Wanted {
  const body = given.bodyProperties ?? DEFAULT_BODY_PROPERTIES;
  const strange = body.find((one) => !BODY_PROPERTIES.has(one) && !isHeaderProperty(one, 'bodyProperties'));
  if (strange !== undefined) throw wrong('bodyProperties', `a body part has no property "${strange.slice(0, 100)}"`);
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
  if (found.length > MOST_HEADERS) throw wrong(argument, `at most ${MOST_HEADERS} header fields can be asked for`);
  return found.map(readHeaderProperty).filter((one) => typeof one !== 'string');
}

function wrong(argument: string, why: string): MethodError {
  return new MethodError('invalidArguments', `"${argument}" cannot be answered: ${why}.`, { arguments: [argument] });
}

const LISTED = ['messageId', 'inReplyTo', 'from', 'to', 'cc', 'bcc', 'subject', 'sentAt', 'preview'];
const IN_HEADER = ['references', 'sender', 'replyTo', 'headers'];
const IN_BODY = ['bodyStructure', 'textBody', 'htmlBody', 'attachments'];

/** What has to be looked up for it. */
export interface Needs {
  /** ENVELOPE and preview. */
  listing: boolean;
  /** The structure of the body. */
  structure: boolean;
  /** The header, from the message itself. */
  header: boolean;
}

export function needsOf({ properties, headers, values }: Wanted): Needs {
  const any = (names: readonly string[]): boolean => properties.some((one) => names.includes(one));
  const header = headers.length > 0 || any(IN_HEADER);
  const structure = any(IN_BODY) || (any(['bodyValues']) && (values.text || values.html || values.all));
  return { header, structure, listing: header || structure || any(LISTED) };
}
