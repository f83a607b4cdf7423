import { access } from './access.ts';
import { bool, id, list, nullable, object, oneOf, optional, plainObject, text, unsigned } from './arguments.ts';
import { MethodError } from './errors.ts';
import type { Call } from './method.ts';
import { answerWindow, WINDOW } from './query-window.ts';

/** How a type of few objects is searched: all of them are in memory. RFC 8620 5.5. */
export interface Searching<T> {
  idOf(one: T): string;
  /** Conditions by their names: each reads its value and answers what it asks of an object. Throws MethodError. */
  conditions: Readonly<Record<string, (value: unknown, path: string) => (one: T) => boolean>>;
  /** Sort properties by their names; less than 0: the first comes first. */
  orders: Readonly<Record<string, (a: T, b: T) => number>>;
}

/** Deeper filters are nobody's meaning. */
const DEEPEST = 20;

interface Comparator {
  property: string;
  isAscending: boolean;
}

const comparator = object({
  property: text,
  isAscending: optional(bool, true),
  collation: nullable(text),
});

const wanted = { filter: nullable(plainObject), sort: nullable(list(comparator)) };

/** What /query and /queryChanges share: the whole result, in order. */
function searched<T>(
  how: Searching<T>,
  { filter, sort }: { filter: Record<string, unknown> | null; sort: readonly Comparator[] | null },
  all: readonly T[],
): T[] {
  const orders = (sort ?? []).map(({ property, isAscending }) => {
    const order = Object.hasOwn(how.orders, property) ? how.orders[property] : undefined;
    if (order === undefined)
      throw new MethodError('unsupportedSort', `Nothing is sorted by "${property.slice(0, 100)}".`);
    return isAscending ? order : (a: T, b: T): number => order(b, a);
  });
  const matches = filter === null ? undefined : readFilter(how, filter, 1);
  const found = matches === undefined ? [...all] : all.filter(matches);
  const byId = (a: T, b: T): number => compare(how.idOf(a), how.idOf(b));
  return found.sort((a, b) => [...orders, byId].reduce((so, order) => so || order(a, b), 0));
}

/** Code unit order, the same on every machine. */
export function compare<T extends string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function readFilter<T>(how: Searching<T>, filter: Record<string, unknown>, depth: number): (one: T) => boolean {
  if (depth > DEEPEST) throw new MethodError('unsupportedFilter', `A filter nests at most ${DEEPEST} deep.`);
  if (!Object.hasOwn(filter, 'operator')) return readCondition(how, filter);
  const read = object({ operator: oneOf('AND', 'OR', 'NOT'), conditions: list(plainObject) })(filter, 'filter');
  const inner = read.conditions.map((one) => readFilter(how, one, depth + 1));
  switch (read.operator) {
    case 'AND':
      return (one) => inner.every((is) => is(one));
    case 'OR':
      return (one) => inner.some((is) => is(one));
    case 'NOT':
      return (one) => !inner.some((is) => is(one));
  }
}

function readCondition<T>(how: Searching<T>, filter: Record<string, unknown>): (one: T) => boolean {
  const all = Object.entries(filter).map(([name, value]) => {
    const condition = Object.hasOwn(how.conditions, name) ? how.conditions[name] : undefined;
    if (condition === undefined) {
      throw new MethodError('unsupportedFilter', `There is no condition "${name.slice(0, 100)}".`);
    }
    return condition(value, `filter/${name}`);
  });
  return (one) => all.every((is) => is(one));
}

/** Reads a /query, and answers it once the objects are there. */
export function readQuery(call: Call, args: Record<string, unknown>) {
  const read = object({
    accountId: access(call),
    ...wanted,
    ...WINDOW,
  })(args, '');
  return { ...read, access: read.accountId, accountId: args['accountId'] as string };
}

export type Query = ReturnType<typeof readQuery>;

/** RFC 8620 5.5. */
export function answerQuery<T>(
  asked: Query,
  how: Searching<T>,
  all: readonly T[],
  queryState: string,
): Record<string, unknown> {
  const ids = searched(how, asked, all).map((one) => how.idOf(one));
  return { accountId: asked.accountId, queryState, canCalculateChanges: true, ...answerWindow(asked, ids) };
}

/** Reads a /queryChanges. */
export function readQueryChanges(call: Call, args: Record<string, unknown>) {
  const read = object({
    accountId: access(call),
    ...wanted,
    sinceQueryState: text,
    maxChanges: nullable(unsigned),
    upToId: nullable(id),
    calculateTotal: optional(bool, false),
  })(args, '');
  if (read.maxChanges === 0) throw new MethodError('invalidArguments', '"maxChanges" must be greater than 0.');
  return { ...read, access: read.accountId, accountId: args['accountId'] as string };
}

export type QueryChanges = ReturnType<typeof readQueryChanges>;

/**
 * RFC 8620 5.6. `changed` are the ids of all objects that changed or went since: they are taken out of the old result,
 * and put back where they are now.
 */
export function answerQueryChanges<T>(
  asked: QueryChanges,
  how: Searching<T>,
  all: readonly T[],
  { changed, newQueryState }: { changed: readonly string[]; newQueryState: string },
): Record<string, unknown> {
  const ids = searched(how, asked, all).map((one) => how.idOf(one));
  const moved = new Set(changed);
  const added = ids.flatMap((one, index) => (moved.has(one) ? [{ id: one, index }] : []));
  const most = asked.maxChanges ?? Infinity;
  if (moved.size + added.length > most) {
    throw new MethodError('tooManyChanges', `There are more than ${most} changes: query again.`);
  }
  return {
    accountId: asked.accountId,
    oldQueryState: asked.sinceQueryState,
    newQueryState,
    ...(asked.calculateTotal && { total: ids.length }),
    removed: [...moved],
    added,
  };
}
