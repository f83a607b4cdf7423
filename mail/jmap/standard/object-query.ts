import { access } from '../core/access.ts';
import {
  bool,
  id,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  plainObject,
  text,
  unsigned,
} from '../core/arguments.ts';
import { MethodError } from '../core/errors.ts';
import { MAX_IN_QUERY } from '../core/capabilities.ts';
import type { MethodCall } from '../core/method.ts';

/** The /query arguments that select a part of the result. RFC 8620 5.5. */
export const WINDOW = {
  position: optional(integer, 0),
  anchor: nullable(id),
  anchorOffset: optional(integer, 0),
  limit: nullable(unsigned),
  calculateTotal: optional(bool, false),
};

type Window = { [K in keyof typeof WINDOW]: ReturnType<(typeof WINDOW)[K]> };

/** Selects the requested part of all ids, as response properties. */
export function answerWindow(request: Window, all: readonly string[]): Record<string, unknown> {
  const limit = Math.min(request.limit ?? MAX_IN_QUERY, MAX_IN_QUERY);
  const position = positionOf(request, all);
  return {
    position,
    ids: all.slice(position, position + limit),
    ...(request.calculateTotal && { total: all.length }),
    ...((request.limit === null ? all.length > limit : limit < request.limit) && { limit }),
  };
}

function positionOf({ anchor, anchorOffset, position }: Window, all: readonly string[]): number {
  if (anchor === null) return Math.min(all.length, position < 0 ? Math.max(0, all.length + position) : position);
  const at = all.indexOf(anchor);
  if (at === -1) throw new MethodError('anchorNotFound', `The result does not contain ${anchor}. Use "position".`);
  return Math.min(all.length, Math.max(0, at + anchorOffset));
}

/** Filters and sorts of a type whose objects all fit in memory. RFC 8620 5.5. */
export interface SearchSpec<T> {
  idOf(one: T): string;
  /** Filter conditions by name; each parses its value into a predicate. Throws MethodError. */
  conditions: Readonly<Record<string, (value: unknown, path: string) => (one: T) => boolean>>;
  /** Comparison functions by sort property. */
  orders: Readonly<Record<string, (a: T, b: T) => number>>;
}

/** Maximum nesting of filter operators. */
const MAX_FILTER_DEPTH = 20;
/** Maximum operators and conditions; each can be evaluated for every object. */
const MAX_FILTER_PARTS = 200;
/** Maximum sort properties; each can be compared for every pair. */
const MAX_COMPARATORS = 10;

interface Comparator {
  property: string;
  isAscending: boolean;
}

const comparator = object({
  property: text,
  isAscending: optional(bool, true),
  collation: nullable(text),
});

const SEARCH_ARGUMENTS = { filter: nullable(plainObject), sort: nullable(list(comparator)) };

/** Computes the whole result, in order, for /query and /queryChanges. */
function searchObjects<T>(
  spec: SearchSpec<T>,
  { filter, sort }: { filter: Record<string, unknown> | null; sort: readonly Comparator[] | null },
  all: readonly T[],
): T[] {
  if ((sort?.length ?? 0) > MAX_COMPARATORS)
    throw new MethodError('unsupportedSort', `At most ${MAX_COMPARATORS} sort properties are allowed.`);
  const orders = (sort ?? []).map(({ property, isAscending }) => {
    const order = Object.hasOwn(spec.orders, property) ? spec.orders[property] : undefined;
    if (order === undefined)
      throw new MethodError('unsupportedSort', `Unsupported sort property "${property.slice(0, 100)}".`);
    return isAscending ? order : (a: T, b: T): number => order(b, a);
  });
  const matches =
    filter === null ? undefined : readFilter(spec, filter, { depth: 1, parts: { left: MAX_FILTER_PARTS } });
  const found = matches === undefined ? [...all] : all.filter(matches);
  const byId = (a: T, b: T): number => compareCodeUnits(spec.idOf(a), spec.idOf(b));
  const inTurn = [...orders, byId];
  return found.sort((a, b) => inTurn.reduce((so, order) => so || order(a, b), 0));
}

/** Compares by code units, independent of the locale. */
export function compareCodeUnits<T extends string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Where a part of a filter stands: `parts` is shared by all of them. */
interface FilterPlace {
  readonly depth: number;
  readonly parts: { left: number };
}

function readFilter<T>(
  spec: SearchSpec<T>,
  filter: Record<string, unknown>,
  { depth, parts }: FilterPlace,
): (one: T) => boolean {
  if (depth > MAX_FILTER_DEPTH)
    throw new MethodError('unsupportedFilter', `A filter can nest at most ${MAX_FILTER_DEPTH} levels.`);
  if (--parts.left < 0)
    throw new MethodError('unsupportedFilter', `A filter can have at most ${MAX_FILTER_PARTS} parts.`);
  if (!Object.hasOwn(filter, 'operator')) return readCondition(spec, filter);
  const read = object({ operator: oneOf('AND', 'OR', 'NOT'), conditions: list(plainObject) })(filter, 'filter');
  const inner = read.conditions.map((one) => readFilter(spec, one, { depth: depth + 1, parts }));
  switch (read.operator) {
    case 'AND':
      return (one) => inner.every((is) => is(one));
    case 'OR':
      return (one) => inner.some((is) => is(one));
    case 'NOT':
      return (one) => !inner.some((is) => is(one));
  }
}

function readCondition<T>(spec: SearchSpec<T>, filter: Record<string, unknown>): (one: T) => boolean {
  const all = Object.entries(filter).map(([name, value]) => {
    const condition = Object.hasOwn(spec.conditions, name) ? spec.conditions[name] : undefined;
    if (condition === undefined) {
      throw new MethodError('unsupportedFilter', `Unknown filter condition "${name.slice(0, 100)}".`);
    }
    return condition(value, `filter/${name}`);
  });
  return (one) => all.every((is) => is(one));
}

/** Reads the arguments of a /query. */
export function readQuery(call: MethodCall, args: Record<string, unknown>) {
  const read = object({
    accountId: access(call),
    ...SEARCH_ARGUMENTS,
    ...WINDOW,
  })(args, '');
  return { ...read, access: read.accountId, accountId: args['accountId'] as string };
}

type QueryRequest = ReturnType<typeof readQuery>;

/** Formats the /query response. RFC 8620 5.5. */
export function answerQuery<T>(
  request: QueryRequest,
  spec: SearchSpec<T>,
  all: readonly T[],
  queryState: string,
): Record<string, unknown> {
  const ids = searchObjects(spec, request, all).map((one) => spec.idOf(one));
  return { accountId: request.accountId, queryState, canCalculateChanges: true, ...answerWindow(request, ids) };
}

/** Reads the arguments of a /queryChanges. */
export function readQueryChanges(call: MethodCall, args: Record<string, unknown>) {
  const read = object({
    accountId: access(call),
    ...SEARCH_ARGUMENTS,
    sinceQueryState: text,
    maxChanges: nullable(unsigned),
    upToId: nullable(id),
    calculateTotal: optional(bool, false),
  })(args, '');
  if (read.maxChanges === 0) throw new MethodError('invalidArguments', '"maxChanges" must be greater than 0.');
  return { ...read, access: read.accountId, accountId: args['accountId'] as string };
}

type QueryChangesRequest = ReturnType<typeof readQueryChanges>;

/**
 * Formats the /queryChanges response. RFC 8620 5.6. `changed` has the ids of all objects changed or destroyed since: each
 * is removed from the old result and added at its present index.
 */
export function answerQueryChanges<T>(
  request: QueryChangesRequest,
  spec: SearchSpec<T>,
  all: readonly T[],
  { changed, newQueryState }: { changed: readonly string[]; newQueryState: string },
): Record<string, unknown> {
  const ids = searchObjects(spec, request, all).map((one) => spec.idOf(one));
  const moved = new Set(changed);
  const added = ids.flatMap((one, index) => (moved.has(one) ? [{ id: one, index }] : []));
  const most = request.maxChanges ?? Infinity;
  if (moved.size + added.length > most) {
    throw new MethodError('tooManyChanges', `More than ${most} changes. Run the query again.`);
  }
  return {
    accountId: request.accountId,
    oldQueryState: request.sinceQueryState,
    newQueryState,
    ...(request.calculateTotal && { total: ids.length }),
    removed: [...moved],
    added,
  };
}
