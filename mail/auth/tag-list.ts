/** One tag of a tag-list, with the position of its value, blanks included. */
export interface Tag {
  /** Trimmed value. */
  value: string;
  start: number;
  end: number;
}

export type Tags = ReadonlyMap<string, Tag>;

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Anything but visible characters, folding white space and UTF-8 octets (RFC 8616). */
const NOT_ALLOWED = /[^\x20-\x7e\x80-\xff\t\r\n]/;

/**
 * Parses a tag-list of RFC 6376 3.2: `name=value` separated by semicolons, names case-sensitive. Undefined on a syntax
 * error or a repeated name, which parsers resolve differently. Linear in the length.
 */
export function readTags(text: string): Tags | undefined {
  const tags = new Map<string, Tag>();
  if (NOT_ALLOWED.test(text)) return undefined;
  for (let at = 0; at <= text.length;) {
    const semicolon = text.indexOf(';', at);
    const end = semicolon < 0 ? text.length : semicolon;
    const equals = text.indexOf('=', at);
    if (equals < 0 || equals >= end) return end === text.length && trimBlanks(text.slice(at)) === '' ? tags : undefined;
    const name = trimBlanks(text.slice(at, equals));
    if (!NAME.test(name) || tags.has(name)) return undefined;
    tags.set(name, { value: trimBlanks(text.slice(equals + 1, end)), start: equals + 1, end });
    at = end + 1;
  }
  return tags;
}

/** Trims ASCII white space only; 0xA0 stays. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Splits a colon-separated list and trims its members. */
export function colonList(text: string): string[] {
  return text.split(':').map(trimBlanks);
}

/** Decodes a base64 value with white space; undefined if invalid. */
export function base64Value(text: string): Buffer | undefined {
  const bare = text.replace(/[ \t\r\n]+/g, '');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(bare) ? Buffer.from(bare, 'base64') : undefined;
}

function isBlank(char: number): boolean {
  return char === 32 || char === 9 || char === 13 || char === 10;
}
