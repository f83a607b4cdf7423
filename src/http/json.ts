/** Deeper than any argument of ours, and shallow enough for every recursive walk behind it. */
const DEEPEST = 32;
/** Values and separators in one body. */
const MOST_ELEMENTS = 20_000;

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/**
 * Reads JSON after one pass over its characters has bounded depth and number of elements: `JSON.parse` itself has no
 * limits, and a megabyte of brackets becomes a hundred of objects.
 */
export function parseBounded(text: string): Parsed {
  const problem = beyondBounds(text);
  if (problem !== undefined) return { ok: false, problem };
  try {
    return { ok: true, value: JSON.parse(text, withoutPrototype) };
  } catch {
    return { ok: false, problem: 'The body is not JSON' };
  }
}

function beyondBounds(text: string): string | undefined {
  let depth = 0;
  let elements = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inText) {
      if (c === 0x5c) i++;
      else if (c === 0x22) inText = false;
      continue;
    }
    if (c === 0x22) inText = true;
    else if (c === 0x5b || c === 0x7b) {
      if (++depth > DEEPEST) return `The body is nested deeper than ${DEEPEST}`;
      elements++;
    } else if (c === 0x5d || c === 0x7d) depth--;
    else if (c === 0x2c) elements++;
    if (elements > MOST_ELEMENTS) return `The body has more than ${MOST_ELEMENTS} elements`;
  }
  return undefined;
}

/** `__proto__` as a key of an argument is never what somebody means. */
function withoutPrototype(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
