import { MethodError } from './errors.ts';

/** One response that is there already: name, arguments, call id. */
export type Invocation = readonly [name: string, args: Record<string, unknown>, callId: string];

/**
 * Puts results of earlier calls where arguments name them (`"#ids": {resultOf, name, path}`). RFC 8620 3.7. Only the
 * arguments themselves may be references, as the RFC has it, and the properties of a filter, which clients try too.
 */
export function resolveReferences(
  args: Record<string, unknown>,
  responses: readonly Invocation[],
): Record<string, unknown> {
  const resolved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (!name.startsWith('#')) define(resolved, name, name === 'filter' ? inFilter(value, responses) : value);
    else if (Object.hasOwn(args, name.slice(1))) {
      throw new MethodError('invalidArguments', `"${name.slice(1)}" is given both as itself and as a reference.`);
    } else define(resolved, name.slice(1), lookUp(value, responses));
  }
  return resolved;
}

function inFilter(value: unknown, responses: readonly Invocation[]): unknown {
  if (Array.isArray(value)) return value.map((one) => inFilter(one, responses));
  if (typeof value !== 'object' || value === null) return value;
  const found: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    if (name.startsWith('#')) define(found, name.slice(1), lookUp(one, responses));
    else define(found, name, name === 'conditions' ? inFilter(one, responses) : one);
  }
  return found;
}

/** Also names such as `__proto__` become properties and nothing else. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function lookUp(reference: unknown, responses: readonly Invocation[]): unknown {
  const { resultOf, name, path } = (reference ?? {}) as Record<string, unknown>;
  if (typeof resultOf !== 'string' || typeof name !== 'string' || typeof path !== 'string') {
    throw new MethodError('invalidResultReference', 'A reference has resultOf, name and path, all strings.');
  }
  const response = responses.find(([, , callId]) => callId === resultOf);
  if (response === undefined || response[0] !== name) {
    throw new MethodError('invalidResultReference', `No earlier call "${resultOf}" was answered by ${name}.`);
  }
  const found = evaluate(response[1], path);
  if (found === undefined) {
    throw new MethodError('invalidResultReference', `The answer to "${resultOf}" has nothing at ${path}.`);
  }
  return found;
}

/** JSON Pointer (RFC 6901) in which `*` goes through all items of an array and flattens. Undefined: nothing is there. */
export function evaluate(value: unknown, path: string): unknown {
  if (path === '') return value;
  if (!path.startsWith('/')) return undefined;
  return walk(value, path.slice(1).split('/').map(unescape));
}

/** RFC 6901 4. */
const unescape = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

function walk(value: unknown, [token, ...rest]: readonly string[]): unknown {
  if (token === undefined) return value;
  if (Array.isArray(value)) {
    if (token === '*') return flatten(value.map((one) => walk(one, rest)));
    return /^(?:0|[1-9]\d{0,8})$/.test(token) ? walk(value[Number(token)], rest) : undefined;
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
  return walk(Reflect.get(value, token), rest);
}

/** Undefined as soon as one item has nothing there. */
function flatten(items: readonly unknown[]): unknown {
  return items.includes(undefined) ? undefined : items.flat();
}
