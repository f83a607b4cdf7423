/** One tag of a tag-list and where its value, blanks included, stands in the text. */
export interface Tag {
  /** Without the blanks around it. */
  value: string;
  start: number;
  end: number;
}

export type Tags = ReadonlyMap<string, Tag>;

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Visible characters, white space of folding, and octets of UTF-8 (RFC 8616). */
const NOT_ALLOWED = /[^\x20-\x7e\x80-\xff\t\r\n]/;

/**
 * Reads a tag-list of RFC 6376 3.2: `name=value` with semicolons between them, names with their case. Undefined for what
 * is none, also where a name stands twice: two readers would each believe another one. Linear in the length.
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

/** A text without the white space around it; an octet that stands for a blank elsewhere stays. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** The members of a list with colons, without the blanks around them. */
export function colonList(text: string): string[] {
  return text.split(':').map(trimBlanks);
}

/** The octets of a base64 value with white space in it, undefined for what is none. */
export function base64Value(text: string): Buffer | undefined {
  const bare = text.replace(/[ \t\r\n]+/g, '');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(bare) ? Buffer.from(bare, 'base64') : undefined;
}

function isBlank(char: number): boolean {
  return char === 32 || char === 9 || char === 13 || char === 10;
}
