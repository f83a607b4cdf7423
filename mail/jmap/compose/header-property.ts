/** The forms that a header field is written and read in. RFC 8621 4.1.2. */
const FORMS = ['Raw', 'Text', 'Addresses', 'GroupedAddresses', 'MessageIds', 'Date', 'URLs'] as const;

export type HeaderForm = (typeof FORMS)[number];

/** A property such as `header:List-Id:asText:all`. RFC 8621 4.1.3. */
export interface HeaderProperty {
  /** As the property spells it. */
  name: string;
  form: HeaderForm;
  /** Its value is an array of all fields of that name. */
  all: boolean;
}

const PROPERTY = /^header:([\x21-\x39\x3b-\x7e]{1,70})(?::as([A-Za-z]+))?(:all)?$/;

/** Undefined: this is no property of the kind. */
export function readHeaderProperty(property: string): HeaderProperty | undefined {
  const [, name, form = 'Raw', all] = PROPERTY.exec(property) ?? [];
  const known = FORMS.find((one) => one === form);
  return name === undefined || known === undefined ? undefined : { name, form: known, all: all !== undefined };
}

const ADDRESSES = ['Addresses', 'GroupedAddresses'] as const;
const IDS = ['MessageIds'] as const;
const DATE = ['Date'] as const;
const TEXT = ['Text'] as const;
const URLS = ['URLs'] as const;

/** Fields of RFC 5322 and RFC 2369 have their own forms; those that neither defines have all. */
const ALLOWED: Readonly<Record<string, readonly HeaderForm[]>> = {
  from: ADDRESSES,
  sender: ADDRESSES,
  'reply-to': ADDRESSES,
  to: ADDRESSES,
  cc: ADDRESSES,
  bcc: ADDRESSES,
  'resent-from': ADDRESSES,
  'resent-sender': ADDRESSES,
  'resent-reply-to': ADDRESSES,
  'resent-to': ADDRESSES,
  'resent-cc': ADDRESSES,
  'resent-bcc': ADDRESSES,
  'message-id': IDS,
  'in-reply-to': IDS,
  references: IDS,
  'resent-message-id': IDS,
  date: DATE,
  'resent-date': DATE,
  subject: TEXT,
  comments: TEXT,
  keywords: TEXT,
  'list-help': URLS,
  'list-unsubscribe': URLS,
  'list-subscribe': URLS,
  'list-post': URLS,
  'list-owner': URLS,
  'list-archive': URLS,
  'return-path': [],
  received: [],
};

/** RFC 8621 4.1.2: whether a field may be had in this form. Raw is always allowed. */
export function allowsForm(name: string, form: HeaderForm): boolean {
  const lower = name.toLowerCase();
  return form === 'Raw' || !Object.hasOwn(ALLOWED, lower) || (ALLOWED[lower] ?? []).includes(form);
}
