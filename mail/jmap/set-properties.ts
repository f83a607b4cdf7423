import type { Reader } from './arguments.ts';
import { MethodError } from './errors.ts';
import { applyPatch } from './patch.ts';
import { done, type Outcome, refused } from './standard-set.ts';

type Shape = Readonly<Record<string, Reader<unknown>>>;
type Read<S extends Shape> = { [K in keyof S]: ReturnType<S[K]> };

/** Reads the properties of an object that is created; all that are wrong are named. RFC 8620 5.3. */
export function readProperties<S extends Shape>(shape: S, given: Record<string, unknown>): Outcome<Read<S>> {
  const wrong = new Map<string, string>();
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(shape, name)) wrong.set(name, `"${name.slice(0, 100)}" is no property that can be set here.`);
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
 * Reads an object as a patch leaves it. Properties outside of `shape` are the server's: a patch may say them as they are
 * and not otherwise. RFC 8620 5.3.
 */
export function readPatched<S extends Shape>(
  shape: S,
  current: Record<string, unknown>,
  patch: Record<string, unknown>,
): Outcome<Read<S>> {
  const applied = applyPatch(current, patch);
  if ('why' in applied) return refused('invalidPatch', `The patch cannot be applied: ${applied.why}.`);
  const wrong = new Map<string, string>();
  const settable: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(applied.patched)) {
    if (Object.hasOwn(shape, name)) settable[name] = value;
    else if (!Object.hasOwn(current, name)) wrong.set(name, `There is no property "${name.slice(0, 100)}".`);
    else if (JSON.stringify(value) !== JSON.stringify(current[name])) wrong.set(name, `"${name}" cannot be changed.`);
  }
  return wrong.size === 0 ? readProperties(shape, settable) : invalid(wrong);
}

function invalid(wrong: ReadonlyMap<string, string>): Outcome<never> {
  return refused('invalidProperties', [...wrong.values()].slice(0, 5).join(' '), { properties: [...wrong.keys()] });
}

/** Null and missing mean the default of a property. RFC 8620 5.3. */
export function orDefault<T>(reader: Reader<T>, fallback: T): Reader<T> {
  return (value, path) => (value === undefined || value === null ? fallback : reader(value, path));
}

/** A text of at most so many characters. */
export function textUpTo(most: number): Reader<string> {
  return (value, path) => {
    if (typeof value !== 'string') throw new MethodError('invalidArguments', `"${path}" must be a string.`);
    if (value.length > most) throw new MethodError('invalidArguments', `"${path}" has more than ${most} characters.`);
    return value;
  };
}
