/** Deeper than any valid argument, and shallow enough for every recursive function that follows. */
const MAX_DEPTH = 32;
/** Values and separators in one body. */
const MAX_ELEMENTS = 20_000;

export type ParsedJson =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/**
 * Parses JSON after a scan has bounded its depth and number of elements: `JSON.parse` has no limits, and 1 MB of
 * brackets becomes 100 MB of objects.
 */
export function parseBounded(text: string): ParsedJson {
  const problem = findExcess(text);
  if (problem !== undefined) return { ok: false, problem };
  try {
    return { ok: true, value: JSON.parse(text, withoutPrototype) };
  } catch {
    return { ok: false, problem: 'The body is not valid JSON' };
  }
}

function findExcess(text: string): string | undefined {
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
      if (++depth > MAX_DEPTH) return `The body is nested deeper than ${MAX_DEPTH}`;
      elements++;
    } else if (c === 0x5d || c === 0x7d) depth--;
    else if (c === 0x2c) elements++;
    if (elements > MAX_ELEMENTS) return `The body has more than ${MAX_ELEMENTS} elements`;
  }
  return undefined;
}

/** Drops `__proto__` keys: prototype pollution. */
function withoutPrototype(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
