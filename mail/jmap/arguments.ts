import { MethodError } from './errors.ts';

/** A reader takes a value apart or throws `invalidArguments` with the path of what is wrong. */
export type Reader<T> = (value: unknown, path: string) => T;

type Shape = Readonly<Record<string, Reader<unknown>>>;
type Read<S extends Shape> = { [K in keyof S]: ReturnType<S[K]> };

/** Property names that would reach into the prototype are no arguments. */
const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

/** An object of these properties and no others; what is missing reaches its reader as undefined. */
export function object<S extends Shape>(shape: S): Reader<Read<S>> {
  return (value, path) => {
    const given = plainObject(value, path);
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(shape, name)) throw wrong(join(path, name), 'is not known here');
    }
    const read = Object.entries(shape).map(([name, reader]) => [name, reader(own(given, name), join(path, name))]);
    return Object.fromEntries(read) as Read<S>;
  };
}

/** A JSON object with any names. */
export function plainObject(value: unknown, path = ''): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, 'must be an object');
  return value as Record<string, unknown>;
}

export const text: Reader<string> = (value, path) => {
  if (typeof value !== 'string') throw wrong(path, 'must be a string');
  return value;
};

/** RFC 8620 1.2. */
export const id: Reader<string> = (value, path) => {
  if (typeof value !== 'string' || !/^[\w-]{1,255}$/.test(value)) throw wrong(path, 'must be an id');
  return value;
};

/** An id, or `#` and a creation id of this request. RFC 8620 5.3. */
export const idOrCreation: Reader<string> = (value, path) => {
  if (typeof value !== 'string' || !/^#?[\w-]{1,255}$/.test(value))
    throw wrong(path, 'must be an id or "#" and a creation id');
  return value;
};

export const bool: Reader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw wrong(path, 'must be true or false');
  return value;
};

/** RFC 8620 1.3. */
export const integer: Reader<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(path, 'must be an integer');
  return value;
};

export const unsigned: Reader<number> = (value, path) => {
  const number = integer(value, path);
  if (number < 0) throw wrong(path, 'must not be negative');
  return number;
};

/** RFC 8620 1.4: a UTCDate, answered as ms UTC. */
export const utcDate: Reader<number> = (value, path) => {
  const at =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value)
      ? Date.parse(value)
      : Number.NaN;
  if (Number.isNaN(at)) throw wrong(path, 'must be a time such as 2026-11-21T09:00:00Z');
  return at;
};

export const anything: Reader<unknown> = (value) => value;

export function list<T>(reader: Reader<T>): Reader<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrong(path, 'must be an array');
    return value.map((one, i) => reader(one, join(path, String(i))));
  };
}

/** A map with names of its own, such as `create` and `update`. */
export function mapOf<T>(reader: Reader<T>): Reader<Map<string, T>> {
  return (value, path) =>
    new Map(Object.entries(plainObject(value, path)).map(([name, one]) => [name, reader(one, join(path, name))]));
}

export function oneOf<const T extends string>(...words: readonly T[]): Reader<T> {
  return (value, path) => {
    const word = words.find((one) => one === value);
    if (word === undefined) throw wrong(path, `must be one of ${words.join(', ')}`);
    return word;
  };
}

/** Null, or missing, or what the reader takes. */
export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value, path) => (value === undefined || value === null ? null : reader(value, path));
}

/** Missing means `fallback`; null is refused unless the reader takes it. */
export function optional<T>(reader: Reader<T>, fallback: T): Reader<T> {
  return (value, path) => (value === undefined ? fallback : reader(value, path));
}

/** Something is wrong with the value at a path; `why` continues the path: `must be a string`. */
export function wrong(path: string, why: string): MethodError {
  return new MethodError('invalidArguments', path === '' ? `The arguments ${why}.` : `"${path}" ${why}.`, {
    ...(path !== '' && { arguments: [path] }),
  });
}

/** The path of what an object or array at `path` has under a name. */
export function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
