import { MethodError } from './errors.ts';

/** Parses a JSON value, or throws `invalidArguments` with the path of the invalid part. */
export type ArgumentReader<T> = (value: unknown, path: string) => T;

type Shape = Readonly<Record<string, ArgumentReader<unknown>>>;
type Read<S extends Shape> = { [K in keyof S]: ReturnType<S[K]> };

/** Reads an own property only: names such as `__proto__` must not reach the prototype. */
const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

/** Reads an object that has only these properties; a missing one reaches its reader as undefined. */
export function object<S extends Shape>(shape: S): ArgumentReader<Read<S>> {
  return (value, path) => {
    const given = plainObject(value, path);
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(shape, name)) throw wrong(joinPath(path, name), 'is not a known argument');
    }
    const read = Object.entries(shape).map(([name, reader]) => [name, reader(own(given, name), joinPath(path, name))]);
    return Object.fromEntries(read) as Read<S>;
  };
}

/** Reads a JSON object with any property names. */
export function plainObject(value: unknown, path = ''): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, 'must be an object');
  return value as Record<string, unknown>;
}

export const text: ArgumentReader<string> = (value, path) => {
  if (typeof value !== 'string') throw wrong(path, 'must be a string');
  return value;
};

/** An Id. RFC 8620 1.2. */
export const id: ArgumentReader<string> = (value, path) => {
  if (typeof value !== 'string' || !/^[\w-]{1,255}$/.test(value)) throw wrong(path, 'must be an id');
  return value;
};

/** An id, or `#` and a creation id of this request. RFC 8620 5.3. */
export const idOrCreation: ArgumentReader<string> = (value, path) => {
  if (typeof value !== 'string' || !/^#?[\w-]{1,255}$/.test(value))
    throw wrong(path, 'must be an id, or "#" and a creation id');
  return value;
};

export const bool: ArgumentReader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw wrong(path, 'must be true or false');
  return value;
};

/** An Int. RFC 8620 1.3. */
export const integer: ArgumentReader<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(path, 'must be an integer');
  return value;
};

export const unsigned: ArgumentReader<number> = (value, path) => {
  const number = integer(value, path);
  if (number < 0) throw wrong(path, 'must not be negative');
  return number;
};

/** A UTCDate as ms UTC. RFC 8620 1.4. */
export const utcDate: ArgumentReader<number> = (value, path) => {
  const at =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value)
      ? Date.parse(value)
      : Number.NaN;
  if (Number.isNaN(at)) throw wrong(path, 'must be a time such as 2026-11-21T09:00:00Z');
  return at;
};

/** Formats a UTCDate; omits a zero fraction. RFC 8620 1.4. */
export function formatUtc(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

export const anything: ArgumentReader<unknown> = (value) => value;

export function list<T>(reader: ArgumentReader<T>): ArgumentReader<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrong(path, 'must be an array');
    return value.map((one, i) => reader(one, joinPath(path, String(i))));
  };
}

/** Reads an object as a map, such as `create` and `update`. */
export function mapOf<T>(reader: ArgumentReader<T>): ArgumentReader<Map<string, T>> {
  return (value, path) =>
    new Map(Object.entries(plainObject(value, path)).map(([name, one]) => [name, reader(one, joinPath(path, name))]));
}

export function oneOf<const T extends string>(...words: readonly T[]): ArgumentReader<T> {
  return (value, path) => {
    const word = words.find((one) => one === value);
    if (word === undefined) throw wrong(path, `must be one of ${words.join(', ')}`);
    return word;
  };
}

/** Accepts null and missing as null. */
export function nullable<T>(reader: ArgumentReader<T>): ArgumentReader<T | null> {
  return (value, path) => (value === undefined || value === null ? null : reader(value, path));
}

/** Replaces a missing value with `fallback`; null still goes to the reader. */
export function optional<T>(reader: ArgumentReader<T>, fallback: T): ArgumentReader<T> {
  return (value, path) => (value === undefined ? fallback : reader(value, path));
}

/** Creates the error for an invalid value; `why` follows the path in the sentence: `must be a string`. */
export function wrong(path: string, why: string): MethodError {
  return new MethodError('invalidArguments', path === '' ? `The arguments ${why}.` : `"${path}" ${why}.`, {
    ...(path !== '' && { arguments: [path] }),
  });
}

/** Appends a property name or index to a path. */
export function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
