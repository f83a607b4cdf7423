import { zonedDate } from './date.ts';
import { parseAddressList } from './header-addresses.ts';
import { headerText, rawText } from './header-text.ts';
import { unfold } from './header.ts';
import { LIMITS } from './limits.ts';
import { writtenIds } from './msg-id.ts';
import { type AddressGroup, addressGroups, type EmailAddress, namedAddresses } from './named-address.ts';

/** Parsed forms of a header field. RFC 8621 4.1.2. */
export const HEADER_FORMS = ['Raw', 'Text', 'Addresses', 'GroupedAddresses', 'MessageIds', 'Date', 'URLs'] as const;

export type HeaderForm = (typeof HEADER_FORMS)[number];

export type HeaderValue = string | string[] | EmailAddress[] | AddressGroup[] | null;

/** Converts one latin1-read field to a form; null if it does not parse. Never throws. */
export function headerForm(form: HeaderForm, value: string): HeaderValue {
  switch (form) {
    case 'Raw':
      return rawText(value);
    case 'Text':
      return headerText(value);
    case 'Addresses':
      return namedAddresses(parseAddressList(value, LIMITS.addresses));
    case 'GroupedAddresses':
      return addressGroups(parseAddressList(value, LIMITS.addresses));
    case 'MessageIds':
      return someOf(writtenIds(unfold(value)).map(rawText));
    case 'Date':
      return zonedDate(value) ?? null;
    case 'URLs':
      return someOf(bracketed(value));
  }
}

/** Returns null for an empty list. */
function someOf(list: string[]): string[] | null {
  return list.length === 0 ? null : list;
}

/** Lists the URLs in angle brackets, without comments. RFC 2369 2. */
function bracketed(value: string): string[] {
  const urls: string[] = [];
  for (const [, url] of withoutComments(value).matchAll(/<([^<>]*)>/g)) {
    const text = rawText((url ?? '').replace(/\s/g, ''));
    if (text !== '') urls.push(text);
  }
  return urls;
}

/** Removes comments; parentheses inside angle brackets are part of the URL. */
function withoutComments(value: string): string {
  let out = '';
  let depth = 0;
  let inUrl = false;
  for (const char of value) {
    if (char === '(' && !inUrl) depth++;
    else if (char === ')' && depth > 0) depth--;
    else if (depth === 0) {
      inUrl = char === '<' || (inUrl && char !== '>');
      out += char;
    }
  }
  return out;
}
