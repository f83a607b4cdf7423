import { fault, type SyntaxFault } from './syntax.ts';

/** ESMTP parameters by upper-case keyword; a keyword without `=` has the value `undefined`. RFC 5321 4.1.2. */
export type Parameters = ReadonlyMap<string, string | undefined>;

const KEYWORD = /^[A-Za-z0-9][A-Za-z0-9-]*$/;
/** esmtp-value; RFC 6531 3.3 adds non-ASCII. */
const VALUE = /^[\x21-\x3c\x3e-\x7e\u0080-\u{10ffff}]+$/u;
const NONE: Parameters = new Map();

/** Parses `KEY=value KEY ...`. A repeated keyword is an error, because it is ambiguous. */
export function readParameters(text: string): Parameters | SyntaxFault {
  if (text === '') return NONE;
  const found = new Map<string, string | undefined>();
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const equals = word.indexOf('=');
    const keyword = (equals < 0 ? word : word.slice(0, equals)).toUpperCase();
    const value = equals < 0 ? undefined : word.slice(equals + 1);
    if (!KEYWORD.test(keyword) || (value !== undefined && !VALUE.test(value))) {
      return fault(501, '5.5.4', 'Syntax of a parameter: KEYWORD or KEYWORD=value');
    }
    if (found.has(keyword)) return fault(501, '5.5.4', `Duplicate parameter ${keyword}`);
    found.set(keyword, value);
  }
  return found;
}
