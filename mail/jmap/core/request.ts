import type { JmapLimits } from './capabilities.ts';
import { MethodError, RequestError } from './errors.ts';
import { jsonSize } from './json.ts';

/** The Request object. RFC 8620 3.3. */
export interface JmapRequest {
  using: ReadonlySet<string>;
  methodCalls: readonly Invocation[];
  /** Undefined if the client sent none; the response then has none. */
  createdIds: Record<string, string> | undefined;
}

/** Validates a request before any call runs. Throws {@link RequestError}. */
export function readRequest(value: unknown, known: ReadonlySet<string>, limits: JmapLimits): JmapRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notRequest('is not an object');
  const { using, methodCalls, createdIds } = value as Record<string, unknown>;
  if (!isListOf(using, isText)) throw notRequest('has no "using", an array of capability URIs');
  if (!Array.isArray(methodCalls) || !methodCalls.every(isInvocation)) {
    throw notRequest('has no "methodCalls", an array of [name, arguments, id]');
  }
  if (createdIds !== undefined && !isIdMap(createdIds))
    throw notRequest('has an invalid "createdIds": it must map ids to ids');
  const unknown = using.find((uri) => !known.has(uri));
  if (unknown !== undefined) {
    throw new RequestError('unknownCapability', `Unknown capability ${unknown.slice(0, 200)}.`);
  }
  if (methodCalls.length > limits.maxCallsInRequest) {
    const most = `A request can have at most ${limits.maxCallsInRequest} calls.`;
    throw new RequestError('limit', most, 'maxCallsInRequest');
  }
  return { using: new Set(using), methodCalls, createdIds };
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isIdText = (value: unknown): value is string => isText(value) && /^[\w-]{1,255}$/.test(value);

function isListOf<T>(value: unknown, is: (one: unknown) => one is T): value is T[] {
  return Array.isArray(value) && value.every((one) => is(one));
}

function isInvocation(value: unknown): value is Invocation {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [name, args, callId] = value as unknown[];
  return isText(name) && typeof args === 'object' && args !== null && !Array.isArray(args) && isText(callId);
}

function isIdMap(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, one]) => isIdText(name) && isIdText(one));
}

function notRequest(why: string): RequestError {
  return new RequestError('notRequest', `The request ${why} (RFC 8620 3.3).`);
}

/** A method call or response: name, arguments, call id. */
export type Invocation = readonly [name: string, args: Record<string, unknown>, callId: string];

/** Limits for the result references of one call: items gathered by `*`, and octets of JSON. */
const MAX_ITEMS = 100_000;
const MAX_BYTES = 10_000_000;
const MAX_PATH_LENGTH = 1_000;

/** Remaining budget; nested references could otherwise grow exponentially. */
class Allowance {
  #items = MAX_ITEMS;
  #octets = MAX_BYTES;

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
    `The result references of one call are limited to ${MAX_ITEMS} items and ${MAX_BYTES} octets. Request less in the earlier call.`,
  );
}

/**
 * Replaces result references (`"#ids": {resultOf, name, path}`) with earlier results. RFC 8620 3.7. Top-level arguments
 * can be references, and so can properties of a filter, which the RFC does not require but clients use.
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
      throw new MethodError('invalidArguments', `"${name.slice(1)}" is given both as a value and as a reference.`);
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

/** Defines an own property, even for names such as `__proto__`. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function lookUp(reference: unknown, responses: readonly Invocation[], allowance: Allowance): unknown {
  const { resultOf, name, path } = (reference ?? {}) as Record<string, unknown>;
  if (typeof resultOf !== 'string' || typeof name !== 'string' || typeof path !== 'string') {
    throw new MethodError('invalidResultReference', 'A result reference needs resultOf, name and path, all strings.');
  }
  const response = responses.find(([, , callId]) => callId === resultOf);
  if (response === undefined || response[0] !== name) {
    throw new MethodError(
      'invalidResultReference',
      `No earlier call "${resultOf.slice(0, 200)}" has a ${name.slice(0, 200)} response.`,
    );
  }
  const found = evaluate(response[1], path, allowance);
  if (found === undefined) {
    throw new MethodError(
      'invalidResultReference',
      `The response of "${resultOf}" has no value at ${path.slice(0, 200)}.`,
    );
  }
  allowance.takeValue(found);
  return found;
}

/** Evaluates a JSON Pointer (RFC 6901) in which `*` maps over an array and flattens. Undefined if there is no value. */
export function evaluate(value: unknown, path: string, allowance = new Allowance()): unknown {
  if (path === '') return value;
  if (!path.startsWith('/') || path.length > MAX_PATH_LENGTH) return undefined;
  return walk(value, path.slice(1).split('/').map(unescape), allowance);
}

/** RFC 6901 4. */
const unescape = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

/** Follows the tokens of a path from `at` on. */
function walk(value: unknown, path: readonly string[], allowance: Allowance, at = 0): unknown {
  const token = path[at];
  if (token === undefined) return value;
  if (Array.isArray(value)) {
    if (token === '*') return gather(value, path, allowance, at + 1);
    return /^(?:0|[1-9]\d{0,8})$/.test(token) ? walk(value[Number(token)], path, allowance, at + 1) : undefined;
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
  return walk(Reflect.get(value, token), path, allowance, at + 1);
}

/** Evaluates the path in all items and flattens; undefined if any item has no value. */
function gather(items: readonly unknown[], path: readonly string[], allowance: Allowance, at: number): unknown {
  const gathered: unknown[] = [];
  for (const item of items) {
    const found = walk(item, path, allowance, at);
    if (found === undefined) return undefined;
    // An empty list counts too: looking at it is work.
    allowance.takeItems(Array.isArray(found) ? Math.max(1, found.length) : 1);
    if (Array.isArray(found)) for (const one of found) gathered.push(one);
    else gathered.push(found);
  }
  return gathered;
}
