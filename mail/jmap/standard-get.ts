import { access } from './access.ts';
import { idOrCreation, list, nullable, object, type Reader, text } from './arguments.ts';
import { MethodError } from './errors.ts';
import type { Access, Call } from './method.ts';
import { realId } from './created.ts';

/** What every /get is asked. RFC 8620 5.1. */
export interface Get {
  accountId: string;
  access: Access;
  /** Each once, in the order asked; null: all. */
  ids: readonly string[] | null;
  /** Null: the default ones of the type. `id` is always among them. */
  properties: ReadonlySet<string> | null;
}

type More = Readonly<Record<string, Reader<unknown>>>;
type ReadMore<M extends More> = { [K in keyof M]: ReturnType<M[K]> };

/** Reads the arguments of a /get. `known` says whether the type has a property. */
export function readGet<M extends More>(
  call: Call,
  args: Record<string, unknown>,
  known: (property: string) => boolean,
  more: M,
): Get & ReadMore<M> {
  const shape = { accountId: access(call), ids: nullable(list(idOrCreation)), properties: nullable(list(text)) };
  const read = object({ ...shape, ...more })(args, '') as ReturnType<ReturnType<typeof object<typeof shape>>> &
    ReadMore<M>;
  // What nothing was created under stays as it is, and is not found.
  const ids = read.ids === null ? null : [...new Set(read.ids.map((one) => realId(call, one) ?? one))];
  if (ids !== null && ids.length > call.desk.limits.maxObjectsInGet) throw tooMany(call);
  const unknown = read.properties?.find((property) => !known(property));
  if (unknown !== undefined) {
    throw new MethodError('invalidArguments', `There is no property "${unknown.slice(0, 100)}".`, {
      arguments: ['properties'],
    });
  }
  const properties = read.properties === null ? null : new Set(['id', ...read.properties]);
  return { ...read, accountId: args['accountId'] as string, access: read.accountId, ids, properties };
}

/** `ids: null` of a type with more objects than one answer holds. */
export function tooMany(call: Call): MethodError {
  return new MethodError(
    'requestTooLarge',
    `At most ${call.desk.limits.maxObjectsInGet} objects fit into one answer: name their ids.`,
  );
}

/** The answer: objects in the order asked, and the ids that nothing was found for. */
export function answerGet<T extends { id: string }>(
  get: Get,
  state: string,
  found: readonly T[],
): Record<string, unknown> {
  const byId = new Map(found.map((one) => [one.id, one]));
  const asked = get.ids ?? [...byId.keys()];
  return {
    accountId: get.accountId,
    state,
    list: asked.flatMap((one) => byId.get(one) ?? []),
    notFound: asked.filter((one) => !byId.has(one)),
  };
}

/** Keeps what was asked for. */
export function pick<T extends Record<string, unknown>>(whole: T, properties: ReadonlySet<string> | null): T {
  if (properties === null) return whole;
  return Object.fromEntries(Object.entries(whole).filter(([name]) => properties.has(name))) as T;
}
