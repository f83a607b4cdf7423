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
  const paths = Object.keys(patch);
  for (const path of paths) {
    if (paths.some((other) => other !== path && path.startsWith(`${other}/`))) {
      return { why: `"${path}" lies inside another path of the same patch` };
    }
    const why = setAt(patched, path.split('/').map(unescape), patch[path], path);
    if (why !== undefined) return { why };
  }
  return { patched };
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
