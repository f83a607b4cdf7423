import { access, resolveCreationId } from '../core/access.ts';
import { idOrCreation, list, nullable, object, type ArgumentReader, text } from '../core/arguments.ts';
import { MethodError } from '../core/errors.ts';
import type { Access, JmapMethod, MethodCall } from '../core/method.ts';

/** Arguments of a /get method. RFC 8620 5.1. */
export interface GetRequest {
  accountId: string;
  access: Access;
  /** Unique, in the requested order; null for all. */
  ids: readonly string[] | null;
  /** Null for the type's defaults. Always includes `id`. */
  properties: ReadonlySet<string> | null;
}

type More = Readonly<Record<string, ArgumentReader<unknown>>>;
type ReadMore<M extends More> = { [K in keyof M]: ReturnType<M[K]> };

/** Reads the arguments of a /get. `known` checks property names. */
export function readGet<M extends More>(
  call: MethodCall,
  args: Record<string, unknown>,
  known: (property: string) => boolean,
  more: M,
): GetRequest & ReadMore<M> {
  const shape = { accountId: access(call), ids: nullable(list(idOrCreation)), properties: nullable(list(text)) };
  const read = object({ ...shape, ...more })(args, '') as ReturnType<ReturnType<typeof object<typeof shape>>> &
    ReadMore<M>;
  // An unresolved creation id stays in the list and ends in `notFound`.
  const ids = read.ids === null ? null : [...new Set(read.ids.map((one) => resolveCreationId(call, one) ?? one))];
  if (ids !== null && ids.length > call.context.limits.maxObjectsInGet) throw tooManyObjects(call);
  const unknown = read.properties?.find((property) => !known(property));
  if (unknown !== undefined) {
    throw new MethodError('invalidArguments', `Unknown property "${unknown.slice(0, 100)}".`, {
      arguments: ['properties'],
    });
  }
  const properties = read.properties === null ? null : new Set(['id', ...read.properties]);
  return { ...read, accountId: args['accountId'] as string, access: read.accountId, ids, properties };
}

/** A /get method without arguments of its own. */
interface GetMethod<T extends { id: string }> {
  name: `${string}/get`;
  capability: string;
  properties: ReadonlySet<string>;
  /** True if `find` keeps to the shared part of an account. */
  canShare?: true;
  /** Finds the requested objects, or more, and the state of the type. */
  find: (call: MethodCall, request: GetRequest) => Promise<{ found: readonly T[]; state: string }>;
}

/** Defines a /get method. RFC 8620 5.1. */
export function getMethod<T extends { id: string }>(method: GetMethod<T>): JmapMethod {
  const { name, capability, properties, canShare, find } = method;
  return {
    name,
    capability,
    ...(canShare && { canShare }),
    async run(call, args) {
      const request = readGet(call, args, (property) => properties.has(property), {});
      const { found, state } = await find(call, request);
      return answerGet(
        request,
        state,
        found.map((one) => pickProperties(one, request.properties)),
      );
    },
  };
}

/** Error for more objects than one response can hold. */
export function tooManyObjects(call: MethodCall): MethodError {
  return new MethodError(
    'requestTooLarge',
    `A response can have at most ${call.context.limits.maxObjectsInGet} objects. Request fewer ids.`,
  );
}

/** Formats the /get response: objects in the requested order, and the ids not found. */
export function answerGet<T extends { id: string }>(
  get: GetRequest,
  state: string,
  found: readonly T[],
): Record<string, unknown> {
  const byId = new Map(found.map((one) => [one.id, one]));
  const requestedIds = get.ids ?? [...byId.keys()];
  return {
    accountId: get.accountId,
    state,
    list: requestedIds.flatMap((one) => byId.get(one) ?? []),
    notFound: requestedIds.filter((one) => !byId.has(one)),
  };
}

/** Selects the requested properties. */
export function pickProperties<T extends Record<string, unknown>>(whole: T, properties: ReadonlySet<string> | null): T {
  if (properties === null) return whole;
  return Object.fromEntries(Object.entries(whole).filter(([name]) => properties.has(name))) as T;
}
