import { HEADER_FORMS, type HeaderForm } from '../../message/header-forms.ts';

/** `header:List-Post:asURLs:all` taken apart. RFC 8621 4.1.3. */
export interface HeaderProperty {
  /** As the client wrote it, which is how it is answered. */
  property: string;
  /** Of the field, in lower case. */
  field: string;
  form: HeaderForm;
  all: boolean;
}

/** The forms that fields of RFC 5322 and RFC 2369 have besides Raw; a field of any other kind has all. RFC 8621 4.1.2. */
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

/** Reads a `header:` property; a text says why it is none. */
export function readHeaderProperty(property: string): HeaderProperty | string {
  const match = /^header:([!-9;-~]+)(?::as([A-Za-z]+))?(:all)?$/.exec(property);
  if (match === null) return 'a header property is header:NAME, then perhaps :asFORM, then perhaps :all';
  const [, name = '', given, all] = match;
  const field = name.toLowerCase();
  const form = given === undefined ? 'Raw' : HEADER_FORMS.find((one) => one === given);
  if (form === undefined) return `the forms of a header field are ${HEADER_FORMS.join(', ')}`;
  const allowed = Object.hasOwn(FORMS, field) ? FORMS[field] : undefined;
  if (form !== 'Raw' && allowed?.includes(form) === false) {
    return `${name} has ${['Raw', ...allowed].join(', ')} and no other form (RFC 8621 4.1.2)`;
  }
  return { property, field, form, all: all !== undefined };
}
