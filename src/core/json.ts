import { jsonExcess } from '../../mail/limits/json-bounds.ts';

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
  const excess = jsonExcess(text, { depth: MAX_DEPTH, elements: MAX_ELEMENTS });
  if (excess === 'depth') return { ok: false, problem: `The body is nested deeper than ${MAX_DEPTH}` };
  if (excess === 'elements') return { ok: false, problem: `The body has more than ${MAX_ELEMENTS} elements` };
  try {
    return { ok: true, value: JSON.parse(text, withoutPrototype) };
  } catch {
    return { ok: false, problem: 'The body is not valid JSON' };
  }
}

/** Drops `__proto__` keys: prototype pollution. */
function withoutPrototype(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
