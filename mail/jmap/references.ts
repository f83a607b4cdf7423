import { MethodError } from './errors.ts';
import { jsonSize } from './json-size.ts';

/** One response that is there already: name, arguments, call id. */
export type Invocation = readonly [name: string, args: Record<string, unknown>, callId: string];

/** What the references of one call may bring: items gathered by `*`, and octets of JSON. No client sends more itself. */
const MOST_ITEMS = 100_000;
const MOST_OCTETS = 10_000_000;
const LONGEST_PATH = 1_000;

/** What is left of it: references to references would multiply without an end. */
class Allowance {
  #items = MOST_ITEMS;
  #octets = MOST_OCTETS;

  takeItems(count: number): void {
    this.#items -= count;
    if (this.#items < 0) throw tooMuch();
  }

  takeValue(value: unknown): void {
    this.#octets -= jsonSize(value, this.#octets);
    if (this.#octets < 0) throw tooMuch();
  }
}

function tooMuch(): MethodError {
  return new MethodError(
    'requestTooLarge',
    `References may bring ${MOST_ITEMS} items and ${MOST_OCTETS} octets to one call: ask for less in the call before.`,
  );
}

/**
 * Puts results of earlier calls where arguments name them (`"#ids": {resultOf, name, path}`). RFC 8620 3.7. Only the
 * arguments themselves may be references, as the RFC has it, and the properties of a filter, which clients try too.
 */
export function resolveReferences(
  args: Record<string, unknown>,
  responses: readonly Invocation[],
): Record<string, unknown> {
  const resolved: Record<string, unknown> = {};
  const allowance = new Allowance();
  for (const [name, value] of Object.entries(args)) {
    if (!name.startsWith('#'))
      define(resolved, name, name === 'filter' ? inFilter(value, responses, allowance) : value);
    else if (Object.hasOwn(args, name.slice(1))) {
      throw new MethodError('invalidArguments', `"${name.slice(1)}" is given both as itself and as a reference.`);
    } else define(resolved, name.slice(1), lookUp(value, responses, allowance));
  }
  return resolved;
}

function inFilter(value: unknown, responses: readonly Invocation[], allowance: Allowance): unknown {
  if (Array.isArray(value)) return value.map((one) => inFilter(one, responses, allowance));
  if (typeof value !== 'object' || value === null) return value;
  const found: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    if (name.startsWith('#')) define(found, name.slice(1), lookUp(one, responses, allowance));
    else define(found, name, name === 'conditions' ? inFilter(one, responses, allowance) : one);
  }
  return found;
}

/** Also names such as `__proto__` become properties and nothing else. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function lookUp(reference: unknown, responses: readonly Invocation[], allowance: Allowance): unknown {
  const { resultOf, name, path } = (reference ?? {}) as Record<string, unknown>;
  if (typeof resultOf !== 'string' || typeof name !== 'string' || typeof path !== 'string') {
    throw new MethodError('invalidResultReference', 'A reference has resultOf, name and path, all strings.');
  }
  const response = responses.find(([, , callId]) => callId === resultOf);
  if (response === undefined || response[0] !== name) {
    throw new MethodError(
      'invalidResultReference',
      `No earlier call "${resultOf.slice(0, 200)}" was answered by ${name.slice(0, 200)}.`,
    );
  }
  const found = evaluate(response[1], path, allowance);
  if (found === undefined) {
    throw new MethodError(
      'invalidResultReference',
      `The answer to "${resultOf}" has nothing at ${path.slice(0, 200)}.`,
    );
  }
  allowance.takeValue(found);
  return found;
}

/** JSON Pointer (RFC 6901) in which `*` goes through all items of an array and flattens. Undefined: nothing is there. */
export function evaluate(value: unknown, path: string, allowance = new Allowance()): unknown {
  if (path === '') return value;
  if (!path.startsWith('/') || path.length > LONGEST_PATH) return undefined;
  return walk(value, path.slice(1).split('/').map(unescape), allowance);
}

/** RFC 6901 4. */
const unescape = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

function walk(value: unknown, [token, ...rest]: readonly string[], allowance: Allowance): unknown {
  if (token === undefined) return value;
  if (Array.isArray(value)) {
    if (token === '*') return gather(value, rest, allowance);
    return /^(?:0|[1-9]\d{0,8})$/.test(token) ? walk(value[Number(token)], rest, allowance) : undefined;
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
  return walk(Reflect.get(value, token), rest, allowance);
}

/** What all items have there, flattened; undefined as soon as one has nothing. */
function gather(items: readonly unknown[], path: readonly string[], allowance: Allowance): unknown {
  const gathered: unknown[] = [];
  for (const item of items) {
    const found = walk(item, path, allowance);
    if (found === undefined) return undefined;
    allowance.takeItems(Array.isArray(found) ? found.length : 1);
    if (Array.isArray(found)) for (const one of found) gathered.push(one);
    else gathered.push(found);
  }
  return gathered;
}
