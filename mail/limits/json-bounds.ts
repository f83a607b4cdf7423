/** Limits of a JSON text. */
export interface JsonBounds {
  depth: number;
  /** Objects, arrays and separators. */
  elements: number;
}

/**
 * Finds what a JSON text has too much of, before it is parsed: `JSON.parse` has no limits, and 10 MB of `{},` become
 * 300 MB of objects. Linear. Undefined for a text within the bounds, or one that does not end a string.
 */
export function jsonExcess(text: string, bounds: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0;
  let elements = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      i = closingQuote(text, i);
      if (i < 0) return undefined;
    } else if (c === 0x5b || c === 0x7b) {
      if (++depth > bounds.depth) return 'depth';
      elements++;
    } else if (c === 0x5d || c === 0x7d) depth--;
    else if (c === 0x2c) elements++;
    if (elements > bounds.elements) return 'elements';
  }
  return undefined;
}

/** Finds a string's closing quote; -1: none. Not a regular expression: one overflows the stack on megabytes. */
export function closingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = at;
    while (text.charCodeAt(escapes - 1) === 0x5c) escapes--;
    if ((at - escapes) % 2 === 0) return at;
  }
  return -1;
}
