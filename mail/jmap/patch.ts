import { plainObject } from './arguments.ts';

/**
 * Applies a PatchObject (RFC 8620 5.3): paths without their leading slash, with `~0` and `~1`; null takes a property
 * away. Answers the object as it would be, or a sentence that says why this is no patch of it.
 */
export function applyPatch(
  current: Record<string, unknown>,
  patch: Record<string, unknown>,
): { patched: Record<string, unknown> } | { why: string } {
  const patched = structuredClone(current);
  const changes = readPatch(patch);
  if ('why' in changes) return changes;
  for (const { tokens, value, path } of changes) {
    const why = setAt(patched, tokens, value, path);
    if (why !== undefined) return { why };
  }
  return { patched };
}

/** Deeper than any object that is patched. */
const DEEPEST = 20;

/** The changes of a patch, their paths taken apart. None lies inside another. */
export function readPatch(
  patch: Record<string, unknown>,
): { tokens: string[]; value: unknown; path: string }[] | { why: string } {
  const paths = new Set(Object.keys(patch));
  const changes = [...paths].map((path) => ({ tokens: path.split('/'), value: patch[path], path }));
  for (const { tokens, path } of changes) {
    if (tokens.length > DEEPEST) return { why: `"${path.slice(0, 100)}..." leads too deep` };
    for (let depth = 1; depth < tokens.length; depth++) {
      if (!paths.has(tokens.slice(0, depth).join('/'))) continue;
      return { why: `"${path}" lies inside another path of the same patch` };
    }
  }
  return changes.map((change) => ({ ...change, tokens: change.tokens.map(unescape) }));
}

const unescape = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

function setAt(
  target: Record<string, unknown>,
  tokens: readonly string[],
  value: unknown,
  path: string,
): string | undefined {
  let at = target;
  for (const token of tokens.slice(0, -1)) {
    const next = Object.hasOwn(at, token) ? at[token] : undefined;
    if (typeof next !== 'object' || next === null || Array.isArray(next)) return `"${path}" leads through nothing`;
    at = plainObject(next);
  }
  const name = tokens.at(-1) ?? '';
  // A property of its own, whatever it is called. Of the object itself null stays: it means the default.
  if (value === null && at !== target) Reflect.deleteProperty(at, name);
  else Object.defineProperty(at, name, { value, enumerable: true, writable: true, configurable: true });
  return undefined;
}
