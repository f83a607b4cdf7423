import { type ArgumentReader, plainObject } from '../core/arguments.ts';
import { MethodError } from '../core/errors.ts';
import { done, refused, type SetOutcome } from './standard-set.ts';

type Shape = Readonly<Record<string, ArgumentReader<unknown>>>;
type Read<S extends Shape> = { [K in keyof S]: ReturnType<S[K]> };

/** Reads the properties of an object to create; reports all invalid ones. RFC 8620 5.3. */
export function readProperties<S extends Shape>(shape: S, given: Record<string, unknown>): SetOutcome<Read<S>> {
  const wrong = new Map<string, string>();
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(shape, name)) wrong.set(name, `"${name.slice(0, 100)}" cannot be set.`);
  }
  const read: Record<string, unknown> = {};
  for (const [name, reader] of Object.entries(shape)) {
    try {
      read[name] = reader(Object.hasOwn(given, name) ? given[name] : undefined, name);
    } catch (error) {
      if (!(error instanceof MethodError)) throw error;
      wrong.set(name, error.message);
    }
  }
  return wrong.size === 0 ? done(read as Read<S>) : invalid(wrong);
}

/**
 * Reads an object after a patch. Properties outside `shape` are set by the server: a patch may only repeat their present
 * value. RFC 8620 5.3.
 */
export function readPatched<S extends Shape>(
  shape: S,
  current: Record<string, unknown>,
  patch: Record<string, unknown>,
): SetOutcome<Read<S>> {
  const applied = applyPatch(current, patch);
  if ('why' in applied) return refused('invalidPatch', `The patch cannot be applied: ${applied.why}.`);
  const wrong = new Map<string, string>();
  const settable: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(applied.patched)) {
    if (Object.hasOwn(shape, name)) settable[name] = value;
    else if (!Object.hasOwn(current, name)) wrong.set(name, `Unknown property "${name.slice(0, 100)}".`);
    else if (JSON.stringify(value) !== JSON.stringify(current[name])) wrong.set(name, `"${name}" cannot be changed.`);
  }
  return wrong.size === 0 ? readProperties(shape, settable) : invalid(wrong);
}

function invalid(wrong: ReadonlyMap<string, string>): SetOutcome<never> {
  return refused('invalidProperties', [...wrong.values()].slice(0, 5).join(' '), { properties: [...wrong.keys()] });
}

/** Replaces null and missing with the default of a property. RFC 8620 5.3. */
export function orDefault<T>(reader: ArgumentReader<T>, fallback: T): ArgumentReader<T> {
  return (value, path) => (value === undefined || value === null ? fallback : reader(value, path));
}

/** Reads a string of at most `most` characters. */
export function textUpTo(most: number): ArgumentReader<string> {
  return (value, path) => {
    if (typeof value !== 'string') throw new MethodError('invalidArguments', `"${path}" must be a string.`);
    if (value.length > most) throw new MethodError('invalidArguments', `"${path}" has more than ${most} characters.`);
    return value;
  };
}

/**
 * Applies a PatchObject (RFC 8620 5.3): JSON Pointer paths without the leading slash; null removes a property. Returns
 * the patched object, or the reason why the patch is invalid.
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

/** Maximum levels of a patch path. */
const MAX_PATH_DEPTH = 20;

/** Parses the paths of a patch; rejects a path that is a prefix of another. */
export function readPatch(
  patch: Record<string, unknown>,
): { tokens: string[]; value: unknown; path: string }[] | { why: string } {
  const paths = new Set(Object.keys(patch));
  // No path is split beyond the levels that are permitted: one of a million levels would be a list of as many texts.
  const changes = [...paths].map((path) => ({
    tokens: path.split('/', MAX_PATH_DEPTH + 1),
    value: patch[path],
    path,
  }));
  for (const { tokens, path } of changes) {
    if (tokens.length > MAX_PATH_DEPTH) return { why: `"${path.slice(0, 100)}..." has too many levels` };
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
    if (typeof next !== 'object' || next === null || Array.isArray(next))
      return `"${path}" has a parent that does not exist`;
    at = plainObject(next);
  }
  const name = tokens.at(-1) ?? '';
  // An own property, even `__proto__`. Null of a top-level property stays: it means the default.
  if (value === null && at !== target) Reflect.deleteProperty(at, name);
  else Object.defineProperty(at, name, { value, enumerable: true, writable: true, configurable: true });
  return undefined;
}
