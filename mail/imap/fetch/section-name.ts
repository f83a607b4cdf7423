import type { Decoder } from '../wire/decoder.ts';
import { string } from '../wire/encoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import type { Section } from './items.ts';

const SECTION_TEXTS: ReadonlyMap<string, Section['what']> = new Map([
  ['', 'all'],
  ['HEADER', 'header'],
  ['HEADER.FIELDS', 'fields'],
  ['HEADER.FIELDS.NOT', 'fields-not'],
  ['TEXT', 'text'],
  ['MIME', 'mime'],
]);

/** Levels of a part number; more than the message index has. */
const MAX_DEPTH = 100;

/** Parses a section after its `[`, including the `]`. RFC 9051 9 `section`. */
export function parseSection(d: Decoder): { section: Section; name: string } {
  const spec = d.ahead(']') ? '' : d.name();
  const words = spec === '' ? [] : spec.split('.');
  const numbers = words.findIndex((word) => !/^[1-9]\d{0,9}$/.test(word));
  const path = words.slice(0, numbers === -1 ? words.length : numbers).join('.');
  const rest = numbers === -1 ? '' : words.slice(numbers).join('.');
  const what = numbers !== -1 && rest === '' ? undefined : SECTION_TEXTS.get(rest);
  if (what === undefined || words.length > MAX_DEPTH || (what === 'mime' && path === '')) {
    throw new ImapSyntaxError('Unknown section');
  }
  if (what !== 'fields' && what !== 'fields-not') {
    d.expect(']');
    return { section: { path, what }, name: spec };
  }
  const fields = d.sp().list((d) => fieldName(d));
  if (fields.length === 0) throw new ImapSyntaxError('Missing field names');
  d.expect(']');
  return { section: { path, what, fields }, name: `${spec} (${fields.map(quoteIfNeeded).join(' ')})` };
}

// RFC 5322 2.2: an invalid field name selects nothing, and must not be echoed into the response.
function fieldName(d: Decoder): string {
  const name = d.astring();
  if (!/^[\x21-\x39\x3b-\x7e]{1,500}$/.test(name)) throw new ImapSyntaxError('Invalid field name');
  return name;
}

function quoteIfNeeded(name: string): string {
  return /[(){%*"\\]/.test(name) ? string(name) : name;
}
